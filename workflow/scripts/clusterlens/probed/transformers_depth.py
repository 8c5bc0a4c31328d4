"""Token similarity, effective rank and clusters by depth, trained against fresh weights (an addition to T)."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures.layers import depth
from clusterlens.probing.numbers import depth_numbers


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    measures = {model: pd.read_csv(paths[0]) for model, paths in files.items()}
    return *depth(measures), depth_numbers(measures)
