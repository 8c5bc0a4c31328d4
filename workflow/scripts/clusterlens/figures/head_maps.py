"""Attention heads of a pretrained model: where they look, how alike they are, and the share of the first token."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines
from clusterlens.metrics.head_clusters import head_tree

TOKENS = 60  # of the text that are shown
HEIGHT = 6.3


@dataclass(frozen=True)
class HeadMaps:
    """What is drawn: all at the layer shown, counted from 0."""

    layer: int
    received: np.ndarray  # (H, n), by key
    tokens: np.ndarray  # (n,)
    correlation: np.ndarray  # (H, H)
    clusters: np.ndarray  # (H,)
    stability: np.ndarray  # by resample


def plot_head_maps(maps: HeadMaps, by_text: pd.DataFrame, by_head: pd.DataFrame) -> Figure:
    """Attention received above; below it the heads' correlations as a cluster map, and curves over depth."""
    figure, middle = correlation_map(maps)
    upper = figure.add_gridspec(1, 1, left=0.07, right=0.95, bottom=0.76, top=0.955)
    first = figure.add_gridspec(1, 2, left=0.645, right=0.985, bottom=0.44, top=0.635, wspace=0.85)
    last = figure.add_gridspec(1, 1, left=0.645, right=0.935, bottom=0.125, top=0.31)
    received, by_depth = figure.add_subplot(upper[0]), figure.add_subplot(first[1])
    attention, heads = figure.add_subplot(first[0]), figure.add_subplot(last[0])
    draw_received(received, maps)
    draw_first(attention, by_text)
    draw_by_depth(by_depth, by_text, maps.layer)
    draw_first_by_head(heads, by_head)
    style.letter([received, middle, attention, by_depth, heads])
    return figure


def correlation_map(maps: HeadMaps) -> tuple[Figure, Axes]:
    """T Fig. 2, right: heads in the order of their tree, whose clusters colour the bar beside it.

    Seaborn makes the figure of a cluster map, and lays it out by itself; returns that figure and the axis for a title.
    """
    tree = head_tree(maps.correlation)
    bar = [style.PALETTE[cluster % len(style.PALETTE)] for cluster in maps.clusters]
    look = {"cmap": "PuOr", "vmin": -1, "vmax": 1, "row_linkage": tree, "col_linkage": tree}
    ratios = {"dendrogram_ratio": (0.14, 0.1), "colors_ratio": 0.035}
    with plt.rc_context({"figure.constrained_layout.use": False}):
        grid = sns.clustermap(
            pd.DataFrame(maps.correlation),
            row_colors=bar,
            figsize=(style.PAGE, HEIGHT),
            cbar_kws={"orientation": "horizontal", "label": "correlation of maps", "ticks": [-1, 0, 1]},
            **look,
            **ratios,
        )
    grid.gs.update(left=0.02, right=0.5, bottom=0.205, top=0.635, wspace=0.02, hspace=0.02)
    grid.ax_cbar.set_position((0.2, 0.125, 0.22, 0.014))
    grid.ax_heatmap.set(xlabel="head", ylabel="head")
    grid.ax_heatmap.tick_params(labelsize=6.5, length=1.5)
    grid.ax_heatmap.tick_params(axis="y", rotation=0)
    stability = f"stability {np.mean(maps.stability):.2f}"
    grid.ax_col_dendrogram.set_title(f"heads by correlation, layer {maps.layer}; {stability}")
    return grid.figure, grid.ax_col_dendrogram


def draw_received(axis: Axes, maps: HeadMaps) -> None:
    """T Fig. 2, left: what each key of one text receives from every head, averaged over queries."""
    shown = maps.received[:, :TOKENS]
    brightest = max(shown.max(), 4 / maps.received.shape[1])  # uniform attention is a quarter of the scale at most
    names = [str(token).strip("\u2581\u0120") or "·" for token in maps.tokens[:TOKENS]]
    bar = {"label": "attention", "pad": 0.01, "fraction": 0.03}
    sns.heatmap(shown, cmap="magma_r", vmin=0, vmax=brightest, xticklabels=names, cbar_kws=bar, ax=axis)
    axis.tick_params(axis="x", labelsize=6, rotation=90, length=1.5)
    axis.tick_params(axis="y", labelsize=6.5, rotation=0, length=1.5)
    axis.set(ylabel="head", title=f"attention received by each token, layer {maps.layer}")


def draw_first(axis: Axes, by_text: pd.DataFrame) -> None:
    """Attention to the first token by layer, each text thin, against that of uniform attention."""
    draw_texts(axis, by_text, "attention", colour=style.BLUE, label="all heads", bounds=(0, 1))
    uniform = by_text.groupby("layer")["uniform"].mean()
    axis.plot(uniform.index, uniform, "--", color=style.GREY, label="uniform")
    axis.set(ylabel="attention to\nfirst token", ylim=(0, None))
    axis.legend(loc="lower right")


def draw_by_depth(axis: Axes, by_text: pd.DataFrame, layer: int) -> None:
    """Mean correlation of different heads by layer, each text thin; the layer shown on the left is marked."""
    draw_texts(axis, by_text, "correlation", colour=style.BLUE, bounds=(-1, 1))
    axis.axvline(layer, color=style.GREY, linestyle=":", linewidth=0.8)
    axis.set(ylabel="mean correlation\nof heads")


def draw_texts(axis: Axes, by_text: pd.DataFrame, column: str, **look) -> None:
    seed_lines(axis, by_text.assign(seed=by_text["text"]), "layer", column, **look)
    axis.set_xlabel("layer")


def draw_first_by_head(axis: Axes, by_head: pd.DataFrame) -> None:
    matrix = by_head.pivot(index="head", columns="layer", values="attention")
    look = {"cmap": "magma_r", "vmin": 0, "cbar_kws": {"label": "attention", "pad": 0.03}}
    sns.heatmap(matrix, xticklabels=max(1, len(matrix.columns) // 6), ax=axis, **look)
    axis.tick_params(axis="x", rotation=0)
    axis.tick_params(axis="y", rotation=0)
    axis.set(xlabel="layer", ylabel="head", title="attention to first token, by head")
