"""Histograms of the cosines between tokens by layer (T Figure 1), and their order parameters by depth."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines

MODES = {"literal": style.GREY, "corrected": style.BLUE}
WIDTH = 4  # bins of the captured histogram drawn as one


def plot_similarity(table: pd.DataFrame, histograms: pd.DataFrame, *, name: str, about: dict[str, str]) -> Figure:
    """One row of histograms for each mode, and below them mean cosine and share of alike pairs by layer."""
    shown = sorted(histograms["layer"].unique())
    figure = style.plt.figure(figsize=(style.PAGE, 5.2))
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.9, 1))
    axes = upper.subplots(len(MODES), len(shown), sharex=True, squeeze=False)
    for row, (mode, colour) in zip(axes, MODES.items(), strict=True):
        for axis, layer in zip(row, shown, strict=True):
            draw_histogram(axis, histograms[(histograms["mode"] == mode) & (histograms["layer"] == layer)], colour)
            axis.set_title(f"layer {layer}")
        row[0].set_ylabel(f"{mode}\ndensity")
    for axis in axes[-1]:
        axis.set_xlabel("cosine")
    upper.suptitle(f"{name}: {'; '.join(f'{mode}: {text}' for mode, text in about.items())}", fontsize=7)
    left, right = lower.subplots(1, 2)
    for mode, colour in MODES.items():
        part = table[table["mode"] == mode]
        draw_depth(left, part, "mean_cosine", colour, mode)
        draw_depth(right, part, "share_alike", colour, mode)
    left.set_ylabel("mean cosine")
    right.set(ylabel="share of pairs above 0.9", ylim=(-0.03, 1.03))
    left.legend()
    return figure


def draw_histogram(axis: Axes, bins: pd.DataFrame, colour: str) -> None:
    """A histogram in steps, over the whole range of a cosine that T shows."""
    edges, density = bins["cosine"].to_numpy(), bins["density"].to_numpy()
    step = edges[1] - edges[0]
    wider = list(np.append(edges[::WIDTH], edges[-1] + step))
    look = {"element": "step", "color": colour, "alpha": 0.25, "linewidth": 1.0}
    sns.histplot(x=edges + step / 2, weights=density, bins=wider, stat="density", ax=axis, **look)
    axis.set(xlim=(min(-0.3, edges[density > 0].min() - 0.05), 1.05), ylim=(0, None), ylabel="")


def draw_depth(axis: Axes, part: pd.DataFrame, column: str, colour: str, label: str) -> None:
    """By layer, each text thin and their mean with its interval."""
    seed_lines(axis, part.assign(seed=part["text"]), "layer", column, colour=colour, label=label, bounds=(-1, 1))
    axis.set_xlabel("layer")
