"""T Fig. 1: how alike the tokens become with depth in ALBERT."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.probed.similarity import show_similarity


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    return show_similarity(files["similarity"])
