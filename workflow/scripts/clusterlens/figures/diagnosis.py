"""The pictures of a diagnosis: clouds, measures as bars, masks."""

import textwrap

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.masks import draw_mask, draw_picture

BARS = {
    "rand index": "agreement with global\n(adjusted Rand index)",
    "silhouette": "coherence\n(silhouette)",
    "fragments": "pieces holding\n90 % of tokens",
}
LABELLED = {"accuracy": "accuracy of the two\nclearest clusters", "dice": "agreement with the mask\n(dice)"}


def bars(means: pd.DataFrame, intervals: pd.DataFrame) -> Figure:
    """One panel per measure, one bar per pattern with its 95 % interval over seeds; the baseline's value as a line."""
    shown = BARS | {name: title for name, title in LABELLED.items() if name in means}
    figure, axes = style.new_figure(1, len(shown), height=0.6 + 0.24 * len(means), sharey=True)
    places = range(len(means))[::-1]
    for axis, (name, title) in zip(axes, shown.items(), strict=True):
        colours = [style.GREY, *[style.BLUE] * (len(means) - 1)]
        axis.barh(places, means[name], xerr=intervals[name], color=colours, height=0.62, error_kw={"linewidth": 0.8})
        axis.axvline(means[name].iloc[0], color=style.GREY, linewidth=0.8, linestyle=":")
        axis.set_title(title, fontsize=7)
    axes[0].set_yticks(list(places), list(means.index))
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
