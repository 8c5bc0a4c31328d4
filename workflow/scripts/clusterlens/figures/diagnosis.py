"""The pictures of a diagnosis: agreement against cost, measures over seeds, masks."""

import textwrap
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, PercentFormatter

from clusterlens.figures import style
from clusterlens.figures.masks import draw_mask, draw_picture
from clusterlens.figures.seeds import interval, seed_means

SHOWN = {
    "rand index": "agreement with global\n(adjusted Rand index)",
    "silhouette": "coherence\n(silhouette)",
    "fragments": "pieces holding\n90 % of tokens",
    "accuracy": "accuracy of the two\nclearest clusters",
    "dice": "agreement with the mask\n(dice)",
}
COSTS = {"work": "multiply-adds, of those of global attention", "time": "time, of that of global attention"}
MARKS = "osD^vP*X<>"


def trade_off(measures: pd.DataFrame, costs: pd.DataFrame) -> Figure:
    """Agreement over each cost of `costs` (work, time; rows are patterns), with 95 % intervals over seeds."""
    agreement = measures[measures["measure"] == "rand index"]
    figure, axes = style.new_figure(1, 2, height=2.7, sharey=True)
    for axis, (cost, label) in zip(axes, COSTS.items(), strict=True):
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        axis.xaxis.set_minor_formatter(NullFormatter())
        for number, (name, price) in enumerate(costs[cost].items()):
            seeds = agreement[agreement["pattern"] == name].assign(cost=price)
            if pd.notna(price):
                mark: dict[str, Any] = {"marker": MARKS[number % len(MARKS)], "markersize": 5.5, "linestyle": "none"}
                seed_means(axis, seeds, "cost", "value", colour=style.PALETTE[number % 9], label=name, **mark)
        axis.axvline(1, color=style.GREY, linewidth=0.8, linestyle=":")
        axis.axhline(1, color=style.GREY, linewidth=0.8, linestyle=":")
        axis.set(xlabel=label, ylim=(agreement["value"].min() - 0.15, 1.05))
    axes[0].set_ylabel("agreement\n(adjusted Rand index)")
    entries = {name: handle for axis in axes for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    names = [textwrap.fill(name, 30) for name in entries]
    figure.legend(list(entries.values()), names, loc="outside lower center", ncols=3)
    return figure


def by_pattern(measures: pd.DataFrame, order: list[str]) -> Figure:
    """One panel per measure: every seed as a point, the mean with its 95 % interval; global attention as a line."""
    shown = {name: title for name, title in SHOWN.items() if name in set(measures["measure"])}
    figure, axes = style.new_figure(1, len(shown), height=0.75 + 0.3 * len(order), sharey=True)
    for axis, (name, title) in zip(axes, shown.items(), strict=True):
        rows = measures[measures["measure"] == name]
        look = {"data": rows, "x": "value", "y": "pattern", "order": order, "ax": axis, "legend": False}
        sns.stripplot(**look, color=style.GREY, size=3, jitter=False, zorder=3)
        mark = {"markersize": 4.5, "capsize": 0.25, "err_kws": {"linewidth": 1.1}, "linestyle": "none"}
        sns.pointplot(**look, color=style.BLUE, errorbar=interval, **mark)
        axis.axvline(rows.loc[rows["pattern"] == order[0], "value"].mean(), color=style.GREY, linestyle=":")
        axis.set(xlabel="", ylabel="")
        axis.set_title(title, fontsize=7)
    axes[0].set_yticks(range(len(order)), [textwrap.fill(name, 24) for name in order])
    return figure


def mask_panels(pixels: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """The picture, then the masks, five to a row."""
    count = 1 + len(titles)
    columns = min(5, count)
    rows = -(-count // columns)
    figure, axes = style.new_figure(rows, columns, width=1.38 * columns, height=1.65 * rows)
    draw_picture(axes[0], pixels, "picture")
    for axis, (mask, title) in zip(axes[1:], titles.items(), strict=False):
        draw_mask(axis, pixels, mask, textwrap.fill(title, 18))
    for axis in axes[count:]:
        axis.set_axis_off()
    return figure
