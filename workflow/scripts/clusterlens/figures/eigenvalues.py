"""Covariance eigenvalues on a log axis, by iteration or by layer."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines

TINY = 1e-300  # an eigenvalue of nothing still has a logarithm


def eigenvalue_panels(spectra: pd.DataFrame, titles: dict[str, str], *, columns: int, along: str) -> Figure:
    """One panel for each name in `titles`; lines by rank.

    Where a column `seed` tells samples apart, each is a thin line and their geometric mean a thick one. The uncentred
    covariance is drawn where it can be told from the centred one.
    """
    rows = -(-len(titles) // columns)
    figure, axes = style.new_figure(rows, columns, height=1.75 * rows + 0.2, sharex=True, sharey="row")
    both = told_apart(spectra, along)
    shown = spectra if both else spectra[spectra["covariance"] == "centred"]
    for axis, (panel, title) in zip(axes, titles.items(), strict=False):
        draw_eigenvalues(axis, shown[shown["panel"] == panel], along)
        axis.set_title(title, fontsize=7)
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis in axes[max(0, len(titles) - columns) : len(titles)]:
        axis.set_xlabel(along)
        axis.tick_params(labelbottom=True)
    for axis in axes[::columns]:
        axis.set_ylabel("eigenvalue")
    if both:
        axes[0].plot([], [], ":", color=style.GREY, label="uncentred")
    axes[0].legend(loc="best", fontsize=6, handlelength=1.4, ncols=2, columnspacing=1.0)
    return figure


def told_apart(spectra: pd.DataFrame, along: str) -> bool:
    """Whether the geometric means of centred and uncentred eigenvalues differ by a fifth anywhere."""
    log = np.log(spectra["eigenvalue"].clip(lower=TINY))
    means = log.groupby([spectra[name] for name in ("covariance", "panel", "rank", along)]).mean()
    return bool((means["centred"] - means["uncentred"]).abs().max() > np.log(1.2))


def draw_eigenvalues(axis: Axes, spectra: pd.DataFrame, along: str) -> None:
    """Geometric means by rank, dotted for the uncentred covariance; samples and intervals where `seed` tells them."""
    spectra = spectra.assign(eigenvalue=spectra["eigenvalue"].clip(lower=TINY))
    for rank, colour in zip(sorted(spectra["rank"].unique()), style.PALETTE, strict=False):
        for kind, line in (("centred", "-"), ("uncentred", ":")):
            part = spectra[(spectra["rank"] == rank) & (spectra["covariance"] == kind)]
            if part.empty:
                continue
            label = f"λ{rank}" if kind == "centred" else ""
            if "seed" in part and kind == "centred":
                seed_lines(axis, part, along, "eigenvalue", colour=colour, label=label, on_log=True)
                continue
            mean = np.exp(np.log(part["eigenvalue"]).groupby(part[along]).mean())
            axis.plot(mean.index, mean, line, color=colour, label=label or None)
    axis.set_yscale("log")
