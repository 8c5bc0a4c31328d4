"""Correlation between attention heads by layer (S Figures 2 and 7), and what learned membrane constants change."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.metrics.numbers import over_seeds
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.training.numbers import BASELINE

COLOURS = dict(zip(VARIANTS, (style.BLUE, style.CYAN, style.GREEN, style.RED, style.ORANGE, style.PURPLE), strict=True))
COLOURS[LEARNED] = style.BROWN


def plot_heads(pairs: pd.DataFrame, layers: pd.DataFrame, item: str, shown: list[int]) -> Figure:
    """Heatmaps of the shown layers, and the mean correlation by depth of all variants."""
    run = BASELINE[item]
    figure = plt.figure(figsize=(style.PAGE, 3.9))
    grid = figure.add_gridspec(2, len(shown) + 1, width_ratios=[1] * len(shown) + [0.06], height_ratios=[1.0, 1.15])
    maps = [figure.add_subplot(grid[0, column]) for column in range(len(shown))]
    image = None
    for axis, layer in zip(maps, shown, strict=True):
        chosen = pairs[(pairs["run"] == run) & (pairs["layer"] == layer)]
        matrix = chosen.pivot_table(index="head", columns="other", values="correlation", dropna=False)
        # S Fig. 2: darker colours are stronger correlations; pairs that were never both active stay white.
        image = axis.imshow(matrix, vmin=-1, vmax=1, cmap="PuOr")
        ticks = range(len(matrix))
        axis.set_xticks(ticks, [tick + 1 for tick in ticks])
        axis.set_yticks(ticks, [tick + 1 for tick in ticks])
        axis.spines[:].set_visible(False)
        axis.set_xlabel("head")
        axis.set_title(f"{VARIANTS[run].split()[-1]}, layer {layer}")
    maps[0].set_ylabel("head")
    figure.colorbar(image, cax=figure.add_subplot(grid[0, -1]), label="correlation")
    curve = figure.add_subplot(grid[1, :])
    draw_depth(curve, layers, VARIANTS, COLOURS, bold=run)
    label_correlations(curve)
    curve.set_title("all variants")
    curve.legend(ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.letter([*maps, curve])
    return figure


def draw_depth(
    axis: Axes,
    layers: pd.DataFrame,
    names: dict[str, str],
    colours: dict[str, str],
    *,
    column: str = "mean_correlation",
    silent: str = "silent_share",
    bold: str = "",
    dashed: bool = False,
) -> None:
    """A quantity by layer: its mean over seeds, each seed as a thin line and, from three seeds on, their 95 % interval.

    Open marks where some heads or tokens were silent.
    """
    for run, name in names.items():
        chosen = layers[layers["run"] == run]
        means, intervals = over_seeds(chosen.groupby("layer")[[column, silent]])
        mean, colour = means[column], colours[run]
        line = {"color": colour, "linestyle": "--" if dashed else "-"}
        for _, seed in chosen.groupby("seed"):
            axis.plot(seed["layer"], seed[column], linewidth=0.4, alpha=0.5, **line)
        axis.plot(mean.index, mean, label=name, linewidth=2.0 if run == bold else 1.0, **line)
        for part, filled in ((means[silent] == 0, True), (means[silent] > 0, False)):
            axis.plot(mean.index[part], mean[part], "o", color=colour, markerfacecolor=None if filled else "white")
        if chosen["seed"].nunique() >= 3:
            band = intervals[column]
            axis.fill_between(mean.index, mean - band, mean + band, color=colour, alpha=0.15, linewidth=0)
    axis.set_xlabel("layer")
    axis.set_xticks(sorted(layers["layer"].unique()))


def label_correlations(axis: Axes) -> None:
    axis.set_xlabel("layer (open: some heads silent)")
    axis.set_ylabel("mean correlation of heads")
    keep_within_one(axis)


def keep_within_one(axis: Axes) -> None:
    """An interval may reach beyond what a correlation or a cosine can be."""
    axis.set_ylim(*np.clip(axis.get_ylim(), -1.05, 1.05))


def plot_membrane(layers: pd.DataFrame, constants: pd.DataFrame, particles: pd.DataFrame, fixed: float) -> Figure:
    """Learned against fixed constants: head correlation by depth, the constants, and particles at those constants."""
    figure, axes = style.new_figure(1, 3, height=2.5)
    runs = {"spikformer": f"fixed, tau = {fixed:g}", LEARNED: "learned tau"}
    draw_depth(axes[0], layers, runs, COLOURS)
    label_correlations(axes[0])
    axes[0].set_title("head correlation")
    show_legend_above(axes[0])
    draw_constants(axes[1], constants, fixed)
    draw_particles(axes[2], particles)
    style.letter(axes)
    return figure


def draw_constants(axis: Axes, constants: pd.DataFrame, fixed: float) -> None:
    learned = constants[constants["run"] == LEARNED]
    for kind, colour in (("attention.neuron", style.BLUE), ("other", style.GREY)):
        chosen = learned[(learned["neuron"] == "attention.neuron") == (kind == "attention.neuron")]
        axis.plot(chosen["layer"], chosen["tau"], "o", color=colour, alpha=0.6, label=f"{kind.split('.')[0]} neurons")
    axis.axhline(fixed, color=style.RED, linewidth=0.8, linestyle="--", label="start")
    axis.set_xticks(sorted(learned["layer"].unique()))
    axis.set_xlabel("layer (0: patches)")
    axis.set_ylabel("membrane constant tau")
    axis.set_title("learned constants")
    show_legend_above(axis)


def show_legend_above(axis: Axes) -> None:
    """A legend in room of its own above the points."""
    axis.set_ylim(top=axis.get_ylim()[1] + 0.35 * np.ptp(axis.get_ylim()))
    axis.legend(loc="upper right")


def draw_particles(axis: Axes, particles: pd.DataFrame) -> None:
    systems = particles["system"].unique()
    for index, system in enumerate(systems):
        chosen = particles[particles["system"] == system]
        mean = chosen.groupby("time")["mean_cosine"].mean()
        colour = style.RED if system == "fixed" else plt.get_cmap("viridis")(index / len(systems))
        label = f"{system}, tau = {chosen['steepness'].iloc[0]:.2f}"
        for _, seed in chosen.groupby("seed"):
            axis.plot(seed["time"], seed["mean_cosine"], color=colour, linewidth=0.3, alpha=0.3)
        axis.plot(mean.index, mean, color=colour, label=label, linestyle="--" if system == "fixed" else "-")
    axis.set_xlabel("time")
    axis.set_ylabel("mean cosine of particles")
    axis.set_title("Eq. 9 at those constants")
    axis.legend(fontsize=5.5)
