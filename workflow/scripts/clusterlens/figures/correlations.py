"""Correlation matrices of tables as heat maps with the numbers written in."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from clusterlens.figures import style


def correlation_maps(correlations: pd.DataFrame) -> Figure:
    """One heat map per panel, from rows panel, row, column, correlation."""
    panels = list(correlations["panel"].unique())
    figure, axes = style.new_figure(1, len(panels), height=2.9)
    for axis, panel in zip(axes, panels, strict=True):
        part = correlations[correlations["panel"] == panel]
        names = list(part["row"].unique())
        matrix = part.pivot(index="row", columns="column", values="correlation").loc[names, names]
        words = [name.replace("_", " ") for name in names]
        look = {"cmap": "RdBu_r", "vmin": -1, "vmax": 1, "square": True, "cbar": False, "annot": True, "fmt": "+.2f"}
        sns.heatmap(matrix, ax=axis, xticklabels=words, yticklabels=words, annot_kws={"fontsize": 8}, **look)
        axis.set_xticklabels(words, rotation=30, ha="right")
        axis.set(title=panel, xlabel="", ylabel="")
    style.letter(axes)
    figure.colorbar(axes[0].collections[0], ax=axes, shrink=0.8, label="Pearson correlation")
    return figure
