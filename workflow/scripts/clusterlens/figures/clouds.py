"""Clouds of tokens in three dimensions: clusters by colour, attention lines, leaders and global tokens."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from clusterlens.figures import style

VIEW = {"elev": 18, "azim": -58}
CLUSTER_COLOURS = tuple(colour for colour in style.PALETTE if colour not in (style.RED, style.GREY))


def clouds(points: pd.DataFrame, titles: dict[str, str], *, columns: int, width: float = style.PAGE) -> Figure:
    """One panel for each name in `titles`, with the points of that panel; see `draw_cloud`."""
    rows = -(-len(titles) // columns)
    side = width / columns
    figure, axes = style.new_figure(
        rows, columns, width=width, height=rows * (side * 0.86 + 0.3), subplot_kw={"projection": "3d"}
    )
    for axis, (panel, title) in zip(axes, titles.items(), strict=False):
        draw_cloud(axis, points[points["panel"] == panel], title)
    for axis in axes[len(titles) :]:
        axis.remove()
    return figure


def feature_clouds(points: pd.DataFrame, features: dict[str, tuple[str, ...]]) -> Figure:
    """One lettered panel for each data set, its axes named after its features."""
    figure, axes = style.new_figure(1, len(features), height=2.55, subplot_kw={"projection": "3d"})
    for axis, (panel, names) in zip(axes, features.items(), strict=True):
        draw_cloud(axis, points[points["panel"] == panel], panel, names)
    style.letter(axes)
    return figure


def draw_cloud(axis: Axes, points: pd.DataFrame, title: str, labels: tuple[str, ...] | None = None) -> None:
    """Points by cluster; rows with `star` = 1 are drawn as red stars; a column `colour` overrides the clusters."""
    colours = points["colour"] if "colour" in points else [colour_of(cluster) for cluster in points["cluster"]]
    axis.computed_zorder = False
    place = points["x"], points["y"], points["z"]
    axis.scatter(*place, c=list(colours), s=5, alpha=0.65, linewidths=0, depthshade=False, zorder=2)
    if "star" in points:
        stars = points[points["star"] == 1]
        look = {"marker": "*", "s": 70, "c": style.RED, "edgecolors": "white", "linewidths": 0.5, "depthshade": False}
        axis.scatter(stars["x"], stars["y"], stars["z"], zorder=9, **look)
    dress(axis, title, labels)


def colour_of(cluster: int) -> str:
    return style.GREY if cluster < 0 else CLUSTER_COLOURS[cluster % len(CLUSTER_COLOURS)]


def dress(axis: Axes, title: str, labels: tuple[str, ...] | None = None) -> None:
    axis.set_title(title, y=1.0, pad=-4 if labels is None else -2)
    axis.view_init(**VIEW)
    for name, dimension in zip("xyz", (axis.xaxis, axis.yaxis, axis.zaxis), strict=True):
        dimension.set_pane_color((1, 1, 1, 0))
        dimension._axinfo["grid"]["linewidth"] = 0.3
        dimension.set_major_locator(MaxNLocator(3))
        axis.tick_params(axis=name, labelsize=6, pad=-3)
    for text, setter in zip(labels or (), (axis.set_xlabel, axis.set_ylabel, axis.set_zlabel), strict=False):
        setter(text.replace("_", " "), fontsize=6.5, labelpad=-7)
    axis.set_box_aspect((1, 1, 0.92), zoom=0.95 if labels is None else 0.8)


def draw_links(axis: Axes, points: pd.DataFrame, links: pd.DataFrame) -> None:
    """Attention as black lines from a token to what it attends to, as wide as the attention is strong."""
    place = points.sort_values("token")[["x", "y", "z"]].to_numpy()
    segments = np.stack([place[links["token"]], place[links["attends to"]]], axis=1)
    widths = 0.9 * links["strength"].to_numpy()
    axis.add_collection3d(Line3DCollection(segments, linewidths=widths, colors=style.BLACK, alpha=0.2, zorder=1))


def attention_cloud(points: pd.DataFrame, links: pd.DataFrame, title: str, labels: tuple[str, ...]) -> Figure:
    """One cloud with its attention lines, its leaders as stars and a legend of the clusters."""
    figure, [axis] = style.new_figure(width=style.COLUMN * 1.35, height=3.5, subplot_kw={"projection": "3d"})
    draw_links(axis, points, links)
    draw_cloud(axis, points, title, labels)
    for cluster, count in points["cluster"].value_counts().sort_index().items():
        axis.scatter([], [], [], c=colour_of(cluster), s=14, label=f"C{cluster}: {count}")
    axis.scatter([], [], [], marker="*", c=style.RED, s=40, label="leader")
    axis.legend(loc="upper left", bbox_to_anchor=(-0.12, 0.9), fontsize=6, handletextpad=0.1)
    return figure
