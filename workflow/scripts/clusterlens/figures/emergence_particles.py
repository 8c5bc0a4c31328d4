"""The simulated figures of E on the limits of the rescaled flow."""

from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from clusterlens.figures import style
from clusterlens.figures.particle_panels import curve, limits_of, page, plane_panel, space_panel
from clusterlens.metrics import order
from clusterlens.particles.runs import Run

ORANGE, VIOLET, TEAL = "#fa7000", "#3a4cc1", "#63acbe"  # the colours of the published pictures


def boolean_matrix(runs: list[Run]) -> Figure:
    """P(t) at four times with the tokens in order of place, and its rank and distance from 0/1 over time."""
    (run,) = runs
    figure, upper, lower = page(height=4.1, shares=(1.45, 1))
    ranked = np.argsort(run.path[0, :, 0])
    n = len(ranked)
    places = [0, n // 2 - 1, n - 1]
    axes = upper.subplots(1, len(run.snapshots), sharey=True, squeeze=False)[0]
    for axis, t, matrix in zip(axes, run.snapshots, run.attention, strict=True):
        look = {"cmap": "Blues", "vmin": 0, "vmax": 1, "square": True, "cbar": False, "rasterized": True}
        sns.heatmap(matrix[np.ix_(ranked, ranked)], ax=axis, xticklabels=False, yticklabels=False, **look)
        axis.set(title=f"t = {t:g}, rank {order.matrix_rank(matrix)}", xlabel="attended token")
        axis.set_xticks([place + 0.5 for place in places], [place + 1 for place in places])
        for spine in axis.spines.values():
            spine.set(visible=True, linewidth=0.4)
    axes[0].set_yticks([place + 0.5 for place in places], [place + 1 for place in places])
    axes[0].set_ylabel("token, sorted by place")
    upper.colorbar(axes[-1].collections[0], ax=axes, label="attention P(t)", shrink=0.62, aspect=12)
    left, right = lower.subplots(1, 2)
    curve(left, run, "rank", colour=style.BLUE, bounds=(1, n))
    left.set(ylabel="rank of P(t)", ylim=(0, None))
    curve(right, run, "distance_to_boolean", colour=style.ORANGE, bounds=(0, 1))
    right.set(ylabel="distance to {0, 1}", ylim=(0, None))
    return figure


def space_row(
    part: Figure, run: Run, *, row: int = 0, rows: int = 1, colour: str, name: str = "", equal: bool = True, **panel
) -> list[Axes]:
    """A run in 3-D at its snapshots, all on the scale of the whole path."""
    limits = limits_of(run.path, margin=0.0, equal=equal)
    axes = []
    for column, t in enumerate(run.snapshots):
        axis = part.add_subplot(rows, len(run.snapshots), row * len(run.snapshots) + column + 1, projection="3d")
        title = named(name, t, column)
        space_panel(axis, run.path[: run.at(t) + 1], colour=colour, title=title, limits=limits, **panel)
        axes.append(axis)
    return axes


def named(name: str, t: float, column: int) -> str:
    """The title of a panel; the first of a row carries the row's name."""
    return f"{name}, t = {t:g}" if name and not column else f"t = {t:g}"


def nearly_edge_on(covector: np.ndarray) -> tuple[float, float]:
    """Elevation and azimuth from which the planes on which `covector` is constant are narrow."""
    return 14.0, float(np.degrees(np.arctan2(-covector[0], covector[1]))) + 16.0


def draw_planes(axis: Axes, now: np.ndarray, covector: np.ndarray) -> None:
    """The outermost planes of tokens on which `covector` is constant, as wide as the cloud."""
    unit = covector / np.linalg.norm(covector)
    across = np.linalg.svd(unit[None])[2][1:]  # two directions within the planes
    levels, spread = now @ unit, now @ across.T
    low, high = spread.min(0), spread.max(0)
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    planes = [corners @ across + level * unit for level in (levels.min(), levels.max())]
    axis.add_collection3d(
        Poly3DCollection(planes, facecolors=style.RED, alpha=0.13, edgecolors=style.RED, linewidths=0.6)
    )


def polytope(runs: list[Run]) -> Figure:
    """Rescaled tokens run to the vertices of a convex polytope."""
    (run,) = runs
    figure, upper, lower = page(height=3.7, shares=(1.4, 1))
    space_row(upper, run, colour=ORANGE, hull=True)
    left, right = lower.subplots(1, 2)
    curve(left, run, "distance_to_vertices", colour=ORANGE, on_log=True)
    left.set(ylabel="distance to vertices", yscale="log")
    curve(right, run, "places", colour=ORANGE)
    right.set(ylabel="clusters", ylim=(0, None))
    return figure


def hyperplanes(runs: list[Run]) -> Figure:
    """Tokens gather on parallel hyperplanes: in the plane on lines, in space on planes."""
    plane, space = runs
    figure, upper, lower = page(height=5.6, shares=(2.6, 1))
    limits = limits_of(plane.path)
    covector = order.left_eigenvectors(plane.value[0, 0], leading=True)[0]
    for column, t in enumerate(plane.snapshots):
        axis = upper.add_subplot(2, len(plane.snapshots), column + 1)
        title = named("d = 2", t, column)
        plane_panel(axis, plane.path[: plane.at(t) + 1], colour=VIOLET, title=title, limits=limits)
        levels = plane.path[plane.at(t)] @ covector
        for level in (levels.min(), levels.max()):
            foot, along = covector * level / (covector @ covector), np.array([-covector[1], covector[0]])
            axis.axline(foot, foot + along, color=style.RED, linewidth=0.7, linestyle="--", zorder=1)
    covector = order.left_eigenvectors(space.value[0, 0], leading=True)[0]
    look: dict[str, Any] = {"view": nearly_edge_on(covector), "zoom": 1.3, "axes": ("x₁", "x₂", "x₃")}
    for axis, t in zip(
        space_row(upper, space, row=1, rows=2, colour=VIOLET, name="d = 3", **look), space.snapshots, strict=True
    ):
        draw_planes(axis, space.path[space.at(t)], covector)
    left, right = lower.subplots(1, 2)
    for run, colour in ((plane, VIOLET), (space, style.GREEN)):
        name = f"d = {run.path.shape[2]}"
        curve(left, run, "hyperplanes", colour=colour, label=name, bounds=(1, np.inf))
        curve(right, run, "distance_to_planes", colour=colour, label=name, on_log=True)
    left.set(ylabel="levels along the\nleading covector", yscale="log")
    left.axhline(3, color=style.GREY, linewidth=0.6, linestyle=":")
    left.set_yticks([2, 3, 5, 10, 20, 40], ["2", "3", "5", "10", "20", "40"])
    left.minorticks_off()
    right.set(ylabel="distance to planes", yscale="log")
    right.legend()
    return figure


def mixed(runs: list[Run]) -> Figure:
    """Corners along the positive directions, a free line along the negative one."""
    (run,) = runs
    figure, upper, lower = page(height=3.9, shares=(1.45, 1))
    names = ("1 (+)", "2 (+)", "3 (−)")
    space_row(upper, run, colour=TEAL, equal=False, shape=(1, 1, 1.3), axes=names, zoom=1.35, name="V = diag(1, 1, −½)")
    left, middle, right = lower.subplots(1, 3)
    final = run.path[-1]
    left.scatter(final[:, 0], final[:, 1], color=TEAL, s=9, edgecolors="black", linewidths=0.3)
    left.set(
        xlabel="first positive direction",
        ylabel="second",
        xticks=[],
        yticks=[],
        title=f"seen from above, t = {run.times[-1]:g}",
    )
    curve(middle, run, "positive_places", colour=TEAL)
    middle.set(ylabel="clusters\nseen from above", ylim=(0, None))
    curve(right, run, "residual_spread", colour=TEAL, on_log=True)
    right.set(ylabel="spread\nwithin clusters", yscale="log")
    return figure
