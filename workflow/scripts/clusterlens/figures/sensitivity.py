"""Numbers over many settings: where a printed value falls among them, and which choices move it."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style

SHOWN = {"silhouette": style.BLUE, "accuracy": style.ORANGE}
LINE_STANDARDISE = "feature"


def choice_panels(points: pd.DataFrame, printed: dict[tuple[str, str], float], effects: pd.DataFrame) -> Figure:
    """A row for each data set: distributions over all settings, the silhouette along iterations, effects of choices."""
    panels = list(points["panel"].unique())
    figure, axes = style.new_figure(len(panels), 4, height=1.95 * len(panels) + 0.2)
    for row, panel in enumerate(panels):
        first, second, third, fourth = axes[4 * row : 4 * row + 4]
        part = points[points["panel"] == panel]
        for axis, outcome in zip((first, second), SHOWN, strict=True):
            draw_distribution(axis, part[outcome], printed.get((panel, outcome)), SHOWN[outcome])
            axis.set_title(outcome)
        first.set_ylabel(f"{panel}\nsettings")
        draw_along_iterations(third, part, printed.get((panel, "silhouette")))
        third.set_title("silhouette by clusters")
        draw_effects(fourth, effects[effects["panel"] == panel])
        fourth.set_title("share of variance")
    axes[0].legend(fontsize=6, loc="upper left")
    axes[3].legend(fontsize=6, loc="center right", bbox_to_anchor=(1.0, 0.31))  # beside the order, which does nothing
    return figure


def draw_distribution(axis: Axes, values: pd.Series, printed: float | None, colour: str) -> None:
    bins = list(np.arange(values.min() - 0.02, values.max() + 0.04, 0.02))
    sns.histplot(values, bins=bins, color=colour, alpha=0.75, linewidth=0, ax=axis)
    if printed is not None:
        axis.axvline(printed, color=style.BLACK, linewidth=1, label="printed")
    axis.set(xlabel="", ylabel="", ylim=(0, 1.25 * axis.get_ylim()[1]))


def draw_along_iterations(axis: Axes, part: pd.DataFrame, printed: float | None) -> None:
    chosen = part[part["standardise"] == LINE_STANDARDISE] if LINE_STANDARDISE in set(part["standardise"]) else part
    means = chosen.groupby(["clusters", "iterations"])["silhouette"].mean().unstack(0)
    for clusters, colour in zip(means, style.PALETTE, strict=False):
        axis.plot(means.index, means[clusters], "o-", color=colour, markersize=2)
        axis.annotate(
            f" {clusters}", (means.index[-1], means[clusters].iloc[-1]), color=colour, fontsize=6, va="center"
        )
    if printed is not None:
        axis.axhline(printed, color=style.BLACK, linewidth=1)
    axis.set(xlabel="iterations", xticks=list(means.index))


def draw_effects(axis: Axes, effects: pd.DataFrame) -> None:
    choices = list(effects["choice"].unique())[::-1]
    for offset, (outcome, colour) in zip((0.18, -0.18), SHOWN.items(), strict=True):
        shares = effects[effects["outcome"] == outcome].set_index("choice")["share of variance"]
        axis.barh(np.arange(len(choices)) + offset, shares[choices], height=0.34, color=colour, label=outcome)
    axis.set(yticks=range(len(choices)), yticklabels=choices, xlim=(0, 1))
