"""Panels of particle figures: tokens on a sphere, on a circle, in the plane or in space, and curves."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from scipy.spatial import ConvexHull

from clusterlens.figures import style
from clusterlens.figures.seeds import over_time, seed_lines
from clusterlens.metrics import order
from clusterlens.metrics.statistics import mean
from clusterlens.particles.runs import Run

TRAIL = {"linewidths": 0.45, "linestyles": (0, (3, 2)), "alpha": 0.5}
DOT = {"s": 9, "edgecolors": "white", "linewidths": 0.25}


@dataclass(frozen=True)
class FilmPanel:
    """One run in an item's film and in its turnable view, by its index.

    `first`: the first token is red; `hull`: with the convex hull; not `equal`: each axis on a scale of its own.
    """

    index: int
    colour: str
    title: str = ""
    first: bool = False
    hull: bool = False
    equal: bool = True


def page(*, height: float, shares: tuple[float, float]) -> tuple[Figure, Figure, Figure]:
    """A page with an upper part for tokens and a lower part for curves."""
    figure = style.plt.figure(figsize=(style.PAGE, height))
    upper, lower = figure.subfigures(2, 1, height_ratios=shares)
    return figure, upper, lower


def sphere_row(
    part: Figure, run: Run, times: list[float], *, row: int = 0, rows: int = 2, name: str = "", view=None, **panel
) -> None:
    """One run at several times, side by side, seen from where most clusters show unless told otherwise."""
    view = view or best_view(run.path[-1])
    for column, t in enumerate(times):
        axis = part.add_subplot(rows, len(times), row * len(times) + column + 1, projection="3d")
        title = f"t = {t:g}" if column or not name else f"{name}, t = {t:g}"
        sphere_panel(axis, run.path[: run.at(t) + 1], title=title, view=view, **panel)


def sphere_panel(
    axis: Axes,
    path: np.ndarray,
    *,
    colour: str,
    title: str,
    first: bool = False,
    diagonal: bool = False,
    view: tuple[float, float] = (18, 35),
) -> None:
    """Tokens on the unit sphere at the end of `path` (T, n, 3) with dashed trails.

    The first token is red if asked, and the direction (1, 1, 1) is marked by a line that ends in a cross.
    """
    turn, tilt = np.linspace(0, 2 * np.pi, 60), np.linspace(0, np.pi, 60)
    wires = [
        np.stack([np.sin(a) * np.cos(turn), np.sin(a) * np.sin(turn), 0 * turn + np.cos(a)], 1) for a in tilt[6:-5:8]
    ]
    wires += [np.stack([np.cos(a) * np.sin(tilt), np.sin(a) * np.sin(tilt), np.cos(tilt)], 1) for a in turn[:-1:5]]
    axis.add_collection3d(Line3DCollection(wires, colors=style.GREY, linewidths=0.25, alpha=0.45))
    space_tokens(axis, path, colour=colour, first=first)
    if diagonal:
        end = np.ones(3) / np.sqrt(3)
        axis.plot(*np.outer([0, 1.3], end).T, color=style.BLACK, linewidth=0.8, zorder=6)
        axis.scatter(*(1.3 * end), marker="x", color=style.BLACK, s=16, linewidths=1, depthshade=False, zorder=6)
    frame_space(axis, title, np.ones((3, 1)) * [-1, 1], view, zoom=1.48)


def best_view(now: np.ndarray) -> tuple[float, float]:
    """Elevation and azimuth from which as many clusters as possible are seen on the near side of the sphere."""
    labels = order.direction_labels(now)
    centres = order.directions(np.stack([now[labels == label].mean(0) for label in np.unique(labels)]))
    candidates = [(elevation, azimuth) for elevation in (10, 20, 30, -10, -20) for azimuth in range(0, 360, 15)]
    tilt, turn = np.radians(candidates).T
    towards = np.stack([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)], 1)
    seen = np.tanh(4 * (towards @ centres.T - 0.15)).mean(1)
    return candidates[int(seen.argmax())]


def space_tokens(axis: Axes, path: np.ndarray, *, colour: str, first: bool = False) -> None:
    """Trails and present places of tokens in 3-D."""
    now = path[-1]
    if len(path) > 1:
        axis.add_collection3d(Line3DCollection(list(path.transpose(1, 0, 2)), colors=colour, **TRAIL))
        if first:
            axis.plot(*path[:, 0].T, color=style.RED, linewidth=1.0)
    rest = now[1:] if first else now
    axis.scatter(*rest.T, color=colour, depthshade=True, **DOT)
    if first:
        axis.scatter(*now[:1].T, color=style.RED, depthshade=False, zorder=5, **(DOT | {"s": 26}))


def frame_space(
    axis: Axes, title: str, limits: np.ndarray, view: tuple[float, float], *, zoom: float = 1.2, shape=(1, 1, 1)
) -> None:
    """Limits (3, 2) in a box of the given shape without walls, seen from `view`."""
    axis.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
    axis.set_box_aspect(shape, zoom=zoom)
    axis.view_init(*view)
    axis.set_axis_off()
    axis.set_title(title, y=1.07, pad=0)


def space_panel(
    axis: Axes,
    path: np.ndarray,
    *,
    colour: str,
    title: str,
    limits: np.ndarray,
    hull: bool = False,
    axes: tuple[str, str, str] | None = None,
    view=(12, 35),
    **frame,
) -> None:
    """Tokens in 3-D space with trails and, if asked, the hull of their present places and named axes."""
    now = path[-1]
    if hull:
        faces = now[ConvexHull(now, qhull_options="QJ").simplices]
        axis.add_collection3d(
            Poly3DCollection(faces, facecolors=colour, alpha=0.06, edgecolors="silver", linewidths=0.35)
        )
    space_tokens(axis, path, colour=colour)
    if axes:
        draw_axes(axis, limits, axes)
    frame_space(axis, title, limits, view, **frame)


def circle_panel(axis: Axes, path: np.ndarray, *, colour: str, title: str, first: bool = False) -> None:
    """Tokens on the unit circle, spread outwards a little where they coincide so that their number can be seen."""
    turn = np.linspace(0, 2 * np.pi, 200)
    axis.plot(np.cos(turn), np.sin(turn), color=style.GREY, linewidth=0.5)
    now = path[-1]
    radius = 1 + 0.035 * crowding(now)
    places = now * radius[:, None]
    axis.scatter(*(places[1:] if first else places).T, color=colour, zorder=3, **DOT)
    if first:
        axis.scatter(*places[:1].T, color=style.RED, zorder=4, **(DOT | {"s": 26}))
    axis.set(xlim=(-1.43, 1.43), ylim=(-1.43, 1.43), aspect="equal")
    axis.set_axis_off()
    axis.set_title(title)


def crowding(now: np.ndarray, *, bins: int = 120) -> np.ndarray:
    """How many earlier tokens share a token's small arc of the circle."""
    arc = np.floor((np.arctan2(now[:, 1], now[:, 0]) + np.pi + 1e-9) / (2 * np.pi) * bins).astype(int) % bins
    earlier = np.zeros(len(now))
    for place in np.unique(arc):
        members = np.flatnonzero(arc == place)
        earlier[members] = np.arange(len(members))
    return np.minimum(earlier, 11)


def plane_panel(axis: Axes, path: np.ndarray, *, colour: str, title: str, limits: np.ndarray | None = None) -> None:
    """Tokens in the plane with their dashed trails."""
    if len(path) > 1:
        axis.add_collection(LineCollection(list(path.transpose(1, 0, 2)), colors=colour, **TRAIL))
    axis.scatter(*path[-1].T, color=colour, zorder=3, **DOT)
    if limits is not None:
        axis.set(xlim=limits[0], ylim=limits[1])
    axis.set_aspect("equal", adjustable="box")
    axis.set(xticks=[], yticks=[], title=title)
    for spine in axis.spines.values():
        spine.set(visible=True, color=style.GREY, linewidth=0.4)


def limits_of(path: np.ndarray, *, margin: float = 0.08, equal: bool = True) -> np.ndarray:
    """Smallest box around all of a path, with equal sides unless told otherwise, (d, 2)."""
    low, high = path.min((0, 1)), path.max((0, 1))
    half = (high - low) / 2 * (1 + 2 * margin)
    half = np.full_like(half, half.max()) if equal else half
    centre = (low + high) / 2
    return np.stack([centre - half, centre + half], axis=1)


def recent(run: Run, path: np.ndarray, t: float, *, span: float = 2.5) -> np.ndarray:
    """The path up to t, its last `span` of time only: longer trails hide the tokens."""
    return path[run.at(t - span) : run.at(t) + 1]


def curve(
    axis: Axes, run: Run, measure: str, *, colour: str, marks: bool = True, on_log: bool = False, **options
) -> None:
    """A measure over time, seeds thin and their mean with its interval, and each snapshot as a dot."""
    values = run.order[measure]
    band(axis, run.times, values, colour=colour, on_log=on_log, **options)
    if marks:
        where = [run.at(t) for t in run.snapshots]
        middle = [np.exp(mean(np.log(these))) if on_log else mean(these) for these in values[where]]
        axis.plot(run.times[where], middle, "o", color=colour, markersize=2.8)


def band(axis: Axes, times: np.ndarray, values: np.ndarray, *, colour: str, label: str = "", **options) -> None:
    """Values (T, S) over time: seeds thin, their mean, and its 95 % interval as a band."""
    seed_lines(axis, over_time(times, values), "time", "value", colour=colour, label=label, **options)
    axis.set_xlabel("t")


def draw_axes(axis: Axes, limits: np.ndarray, names: tuple[str, str, str] = ("x₁", "x₂", "x₃")) -> None:
    """Three axes from the lowest corner of the limits (3, 2), with their names."""
    corner, ends = limits[:, 0], limits[:, 0] + np.diag(0.35 * np.ptp(limits, axis=1))
    axis.add_collection3d(
        Line3DCollection([np.stack([corner, end]) for end in ends], colors=style.GREY, linewidths=0.7, zorder=0)
    )
    for end, name in zip(ends, names, strict=True):
        axis.text(*(corner + 1.3 * (end - corner)), name, fontsize=6, color="#5a5f67", ha="center", va="center")


def without_growth(path: np.ndarray) -> np.ndarray:
    """Every state over its root mean square norm: the shape of a cloud that grows or shrinks."""
    return path / np.sqrt((path**2).sum(-1).mean(-1))[:, None, None]


def shown_path(run: Run) -> np.ndarray:
    """The path as films show it: without growth where the flow is neither on the sphere nor rescaled."""
    return without_growth(run.path) if run.settings["field"].startswith("free") else run.path
