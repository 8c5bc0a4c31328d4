"""Attention heads of a pretrained model: where they look, how alike they are, and the share of the first token."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.metrics.numbers import over_seeds

TOKENS = 40  # of the text that are shown


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
    figure = style.plt.figure(figsize=(style.PAGE, 5.6))
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    left, right = upper.subplots(1, 2, width_ratios=(1.5, 1))
    draw_received(left, maps)
    draw_correlation(right, maps)
    axes = lower.subplots(1, 3)
    draw_first(axes[0], by_text)
    draw_first_by_head(axes[1], by_head)
    draw_by_depth(axes[2], by_text, maps.layer)
    style.letter([left, right, *axes])
    return figure


def draw_received(axis: Axes, maps: HeadMaps) -> None:
    """T Fig. 2, left: what each key of one text receives from every head, averaged over queries."""
    shown = maps.received[:, :TOKENS]
    brightest = max(shown.max(), 4 / maps.received.shape[1])  # uniform attention is a quarter of the scale at most
    image = axis.imshow(shown, cmap="magma_r", vmin=0, vmax=brightest, aspect="auto")
    names = [str(token).strip("\u2581\u0120") or "·" for token in maps.tokens[:TOKENS]]
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=5)
    axis.set(ylabel="head", title=f"attention received, layer {maps.layer}")
    axis.figure.colorbar(image, ax=axis, shrink=0.7)


def draw_correlation(axis: Axes, maps: HeadMaps) -> None:
    """T Fig. 2, right; the colour of a head's number is its cluster."""
    image = axis.imshow(maps.correlation, cmap="magma_r", vmin=0, vmax=1)
    heads = range(len(maps.correlation))
    for ticks in (axis.set_xticks(heads, heads, fontsize=5), axis.set_yticks(heads, heads, fontsize=5)):
        for tick, cluster in zip(ticks, maps.clusters, strict=True):
            tick.label1.set_color(style.PALETTE[cluster % len(style.PALETTE)])
    index = f"{np.mean(maps.stability):.2f}"
    axis.set(xlabel=f"head (coloured by cluster; Rand index over resamples {index})", title="correlation of maps")
    axis.xaxis.label.set_fontsize(6)
    axis.figure.colorbar(image, ax=axis, shrink=0.7)


def draw_first(axis: Axes, by_text: pd.DataFrame) -> None:
    """Mean attention to the first token by layer, against that of uniform attention."""
    means, intervals = over_seeds(by_text.groupby("layer")[["attention", "uniform"]])
    line(axis, means["attention"], intervals["attention"], style.BLUE, "all heads")
    axis.plot(means.index, means["uniform"], "--", color=style.GREY, label="uniform")
    axis.set(xlabel="layer", ylabel="attention to first token", ylim=(0, None))
    axis.legend()


def draw_first_by_head(axis: Axes, by_head: pd.DataFrame) -> None:
    matrix = by_head.pivot(index="head", columns="layer", values="attention")
    image = axis.imshow(matrix, cmap="magma_r", vmin=0, aspect="auto")
    axis.set(xlabel="layer", ylabel="head", title="attention to first token")
    axis.figure.colorbar(image, ax=axis, shrink=0.8)


def draw_by_depth(axis: Axes, by_text: pd.DataFrame, layer: int) -> None:
    """Mean correlation of different heads by layer; the layer shown above is marked."""
    means, intervals = over_seeds(by_text.groupby("layer")[["correlation"]])
    line(axis, means["correlation"], intervals["correlation"], style.BLUE, "")
    axis.axvline(layer, color=style.GREY, linestyle=":", linewidth=0.8)
    axis.set(xlabel="layer", ylabel="mean correlation of heads")


def line(axis: Axes, mean: pd.Series, interval: pd.Series, colour: str, label: str) -> None:
    axis.plot(mean.index, mean, color=colour, label=label)
    axis.fill_between(mean.index, mean - interval, mean + interval, color=colour, alpha=0.2, linewidth=0)
