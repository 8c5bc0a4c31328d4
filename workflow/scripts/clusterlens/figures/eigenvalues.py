"""Covariance eigenvalues on a log axis, by iteration or by layer."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style


def eigenvalue_panels(spectra: pd.DataFrame, titles: dict[str, str], *, columns: int, along: str) -> Figure:
    """One panel for each name in `titles`; lines by rank, solid for the centred covariance, dotted for the other."""
    rows = -(-len(titles) // columns)
    figure, axes = style.new_figure(rows, columns, height=1.75 * rows + 0.2, sharex=True, sharey="row")
    for axis, (panel, title) in zip(axes, titles.items(), strict=False):
        draw_eigenvalues(axis, spectra[spectra["panel"] == panel], along)
        axis.set_title(title, fontsize=7)
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis in axes[max(0, len(titles) - columns) : len(titles)]:
        axis.set_xlabel(along)
        axis.tick_params(labelbottom=True)
    for axis in axes[::columns]:
        axis.set_ylabel("eigenvalue")
    axes[0].plot([], [], ":", color=style.GREY, label="uncentred")
    axes[0].legend(loc="lower left", fontsize=6, handlelength=1.4, ncols=2, columnspacing=1.0)
    return figure


def draw_eigenvalues(axis: Axes, spectra: pd.DataFrame, along: str) -> None:
    for rank, colour in zip(sorted(spectra["rank"].unique()), style.PALETTE, strict=False):
        for kind, line in (("centred", "-"), ("uncentred", ":")):
            part = spectra[(spectra["rank"] == rank) & (spectra["covariance"] == kind)]
            label = f"λ{rank}" if kind == "centred" else None
            axis.plot(part[along], part["eigenvalue"], line, color=colour, label=label)
    axis.set_yscale("log")
