"""T Figure 1 for any checkpoint: the numbers behind the histograms of token similarity."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.similarity import plot_similarity
from clusterlens.files import read_json
from clusterlens.metrics.numbers import number

COLUMNS = {"share_alike": "fraction above 0.9", "mean_cosine": "mean cosine", "skewness": "skewness"}


def show_similarity(paths: list[str]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    table, histograms = (pd.read_csv(Path(path)) for path in paths[:2])
    checkpoint = read_json(paths[2])["checkpoint"]
    texts = table.groupby("mode")["text"].nunique()
    about = {
        "literal": "one head, one paragraph, diagonal counted",
        "corrected": f"{checkpoint['heads']} heads, {texts['corrected']} paragraphs, pairs only",
    }
    figure = plot_similarity(table, histograms, name=style.CLASSES[checkpoint["model_type"]], about=about)
    rows = []
    for (mode, layer), part in table.groupby(["mode", "layer"], sort=False):
        if layer in set(histograms["layer"]):
            by_text = part.set_index("text")
            rows += [number(f"{mode} layer {layer}", column, by_text[key]) for key, column in COLUMNS.items()]
    return figure, histograms[histograms["density"] > 0], rows
