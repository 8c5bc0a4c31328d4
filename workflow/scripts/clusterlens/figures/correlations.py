"""Correlation matrices of tables as heat maps with the numbers written in."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures import style


def correlation_maps(correlations: pd.DataFrame) -> Figure:
    """One heat map per panel, from rows panel, row, column, correlation."""
    panels = list(correlations["panel"].unique())
    figure, axes = style.new_figure(1, len(panels), height=2.9)
    for axis, panel in zip(axes, panels, strict=True):
        part = correlations[correlations["panel"] == panel]
        names = list(part["row"].unique())
        matrix = part.pivot(index="row", columns="column", values="correlation").loc[names, names].to_numpy()
        image = axis.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
        for row, line in enumerate(matrix):
            for column, value in enumerate(line):
                axis.text(
                    column,
                    row,
                    f"{value:+.2f}",
                    ha="center",
                    va="center",
                    color="white" if abs(value) > 0.6 else "black",
                )
        axis.set_xticks(range(len(names)), [name.replace("_", " ") for name in names], rotation=30, ha="right")
        axis.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axis.set_title(panel)
        axis.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.8, label="Pearson correlation")
    return figure
