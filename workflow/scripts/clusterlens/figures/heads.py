"""Correlation between attention heads by layer (S Figures 2 and 7), and what learned membrane constants change."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.training.numbers import BASELINE

COLOURS = dict(zip(VARIANTS, (style.BLUE, style.CYAN, style.GREEN, style.RED, style.ORANGE, style.PURPLE), strict=True))
COLOURS[LEARNED] = style.BROWN
FAMILIES = {"vit": "ViT", "spikformer": "Spikformer"}
MARKERS = "osD^"
APART = 0.08  # of a layer, between variants


def plot_heads(pairs: pd.DataFrame, layers: pd.DataFrame, item: str, shown: list[int]) -> Figure:
    """Heatmaps of the shown layers, and the mean correlation by depth of all variants."""
    run = BASELINE[item]
    figure = plt.figure(figsize=(style.PAGE, 4.4))
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.2))
    maps = list(upper.subplots(1, len(shown), squeeze=False)[0])
    for axis, layer in zip(maps, shown, strict=True):
        chosen = pairs[(pairs["run"] == run) & (pairs["layer"] == layer)]
        matrix = chosen.pivot_table(index="head", columns="other", values="correlation", dropna=False)
        # S Fig. 2: darker colours are stronger correlations; pairs that were never both active stay white.
        heads = range(1, len(matrix) + 1)
        look = {"vmin": -1, "vmax": 1, "cmap": "PuOr", "square": True, "cbar": False}
        sns.heatmap(matrix, ax=axis, xticklabels=heads, yticklabels=heads, **look)
        axis.tick_params(axis="y", rotation=0)
        axis.set(xlabel="head", ylabel="", title=f"{VARIANTS[run].split()[-1]}, layer {layer}")
    maps[0].set_ylabel("head")
    upper.colorbar(maps[0].collections[0], ax=maps, label="correlation", shrink=0.8)
    curves = list(lower.subplots(1, len(FAMILIES), sharey=True))
    for axis, (family, title) in zip(curves, FAMILIES.items(), strict=True):
        names = {name: words for name, words in VARIANTS.items() if name.split("_")[0] == family}
        draw_depth(axis, layers, names, COLOURS, bold=run)
        label_correlations(axis)
        axis.set_title(f"{title}, n = {layers['seed'].nunique()} seeds")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=1, fontsize=6.5)
    curves[1].set_ylabel("")
    style.letter([*maps, *curves])
    return figure


def draw_depth(
    axis: Axes,
    layers: pd.DataFrame,
    names: dict[str, str],
    colours: dict[str, str],
    *,
    column: str = "mean_correlation",
    silent: str = "silent_share",
    bounds: tuple[float, float] = (-1, 1),
    bold: str = "",
    dashed: bool = False,
) -> None:
    """A quantity by layer: each seed thin, and their mean with, from three seeds on, its 95 % interval as a bar.

    Open marks where some heads or tokens were silent. Variants stand side by side so that bars do not overlap.
    """
    for place, (run, name) in enumerate(names.items()):
        shift = APART * (place - (len(names) - 1) / 2)
        chosen = layers[layers["run"] == run]
        chosen = chosen.assign(place=chosen["layer"] + shift)
        look: dict[str, Any] = {"linestyle": "--" if dashed else "-", "linewidth": 1.8 if run == bold else 1.0}
        seed_lines(axis, chosen, "place", column, colour=colours[run], label=name, bounds=bounds, bars=True, **look)
        means = chosen.groupby("place")[[column, silent]].mean()
        for part, filled in ((means[silent] == 0, True), (means[silent] > 0, False)):
            face = colours[run] if filled else "white"
            axis.plot(means[column][part], MARKERS[place % len(MARKERS)], color=colours[run], markerfacecolor=face)
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
    figure, axes = style.new_figure(1, 3, height=3.4)
    runs = {"spikformer": f"fixed, τ = {fixed:g}", LEARNED: "learned τ"}
    draw_depth(axes[0], layers, runs, COLOURS)
    label_correlations(axes[0])
    axes[0].set_title(f"heads, n = {layers.loc[layers['run'].isin(runs), 'seed'].nunique()} seeds")
    draw_constants(axes[1], constants, fixed)
    draw_particles(axes[2], particles)
    for axis in axes:
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), fontsize=6.5)
    style.letter(axes)
    return figure


def draw_constants(axis: Axes, constants: pd.DataFrame, fixed: float) -> None:
    learned = constants[constants["run"] == LEARNED]
    attention = learned["neuron"] == "attention.neuron"
    kinds = {"neurons after attention": (attention, style.BLUE, "D"), "other neurons": (~attention, style.GREY, "o")}
    for name, (chosen, colour, marker) in kinds.items():
        look = {"color": colour, "marker": marker, "s": 16, "alpha": 0.75, "linewidth": 0, "label": name}
        sns.scatterplot(learned[chosen], x="layer", y="tau", ax=axis, legend=False, **look)
    axis.axhline(fixed, color=style.RED, linewidth=0.8, linestyle="--", label="start")
    axis.set(xticks=sorted(learned["layer"].unique()), xlabel="layer (0: patches)", ylabel="membrane constant τ")
    axis.set_title(f"constants, n = {learned['seed'].nunique()} seeds")


def draw_particles(axis: Axes, particles: pd.DataFrame) -> None:
    systems = particles["system"].unique()
    for index, system in enumerate(systems):
        chosen = particles[particles["system"] == system]
        colour = style.RED if system == "fixed" else to_hex(plt.get_cmap("viridis")(index / len(systems)))
        label = f"{system}, τ = {chosen['steepness'].iloc[0]:.2f}"
        look: dict[str, Any] = {"linestyle": "--" if system == "fixed" else "-", "bounds": (-1, 1)}
        seed_lines(axis, chosen, "time", "mean_cosine", colour=colour, label=label, **look)
    axis.set(xlabel="time", ylabel="mean cosine of particles")
    axis.set_title(f"Eq. 9, n = {particles['seed'].nunique()} seeds")
