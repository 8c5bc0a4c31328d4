"""The simulated figures of E: limits of the rescaled flow, and the flow with many random heads."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.particle_panels import curve, limits_of, page, plane_panel, recent, space_panel, without_growth
from clusterlens.metrics import order
from clusterlens.metrics.statistics import half_width, mean, mean_interval, share_interval
from clusterlens.particles.numbers import clustered, fits, leading
from clusterlens.particles.runs import Run

ORANGE, VIOLET, TEAL = "#fa7000", "#3a4cc1", "#63acbe"  # the colours of the published pictures


def boolean_matrix(runs: list[Run]) -> Figure:
    """P(t) at four times with the tokens in order of place, and its rank and distance from 0/1 over time."""
    (run,) = runs
    figure, upper, lower = page(height=3.9, shares=(1.35, 1))
    ranked = np.argsort(run.path[0, :, 0])
    for axis, t, matrix in zip(upper.subplots(1, len(run.snapshots)), run.snapshots, run.attention, strict=True):
        axis.imshow(matrix[np.ix_(ranked, ranked)], cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        axis.set(xticks=[], yticks=[], title=f"t = {t:g}, rank {order.matrix_rank(matrix)}")
        for spine in axis.spines.values():
            spine.set_visible(True)
    left, right = lower.subplots(1, 2)
    curve(left, run, "rank", colour=style.BLUE)
    left.set(ylabel="rank of P(t)", ylim=(0, None))
    curve(right, run, "distance_to_boolean", colour=style.ORANGE)
    right.set(ylabel="distance to {0, 1}", ylim=(0, None))
    return figure


def space_row(part: Figure, run: Run, *, row: int = 0, rows: int = 1, colour: str, equal: bool = True, **panel) -> None:
    """A run in 3-D at its snapshots, all on the scale of the whole path."""
    limits = limits_of(run.path, margin=0.0, equal=equal)
    for column, t in enumerate(run.snapshots):
        axis = part.add_subplot(rows, len(run.snapshots), row * len(run.snapshots) + column + 1, projection="3d")
        space_panel(axis, run.path[: run.at(t) + 1], colour=colour, title=f"t = {t:g}", limits=limits, **panel)


def edge_on(covector: np.ndarray) -> tuple[float, float]:
    """Elevation and azimuth from which the planes on which `covector` is constant are seen as lines."""
    return 0.0, float(np.degrees(np.arctan2(-covector[0], covector[1])))


def polytope(runs: list[Run]) -> Figure:
    """Rescaled tokens run to the vertices of a convex polytope."""
    (run,) = runs
    figure, upper, lower = page(height=3.7, shares=(1.4, 1))
    space_row(upper, run, colour=ORANGE, hull=True)
    left, right = lower.subplots(1, 2)
    curve(left, run, "distance_to_vertices", colour=ORANGE)
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
        axis = upper.add_subplot(2, 4, column + 1)
        plane_panel(axis, plane.path[: plane.at(t) + 1], colour=VIOLET, title=f"t = {t:g}", limits=limits)
        levels = plane.path[plane.at(t)] @ covector
        for level in (levels.min(), levels.max()):
            foot, along = covector * level / (covector @ covector), np.array([-covector[1], covector[0]])
            axis.axline(foot, foot + along, color=style.RED, linewidth=0.7, linestyle="--", zorder=1)
    view = edge_on(order.left_eigenvectors(space.value[0, 0], leading=True)[0])
    space_row(upper, space, row=1, rows=2, colour=VIOLET, view=view, zoom=1.45)
    left, right = lower.subplots(1, 2)
    for run, colour in ((plane, VIOLET), (space, style.GREEN)):
        name = f"d = {run.path.shape[2]}"
        curve(left, run, "hyperplanes", colour=colour, label=name)
        curve(right, run, "distance_to_planes", colour=colour, label=name)
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
    space_row(upper, run, colour=TEAL, equal=False, shape=(1, 1, 1.3))
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
    middle.set(ylabel="clusters from above", ylim=(0, None))
    curve(right, run, "residual_spread", colour=TEAL)
    right.set(ylabel="spread within clusters", yscale="log")
    return figure


def flow_curves(part: Figure, run: Run, *, colour: str) -> None:
    """Clusters and merged pairs over time, and the distance to the nearest neighbour seed by seed."""
    left, middle, right = part.subplots(1, 3)
    curve(left, run, "places", colour=colour)
    left.set(ylabel="clusters", ylim=(0, None))
    curve(middle, run, "merged_places", colour=colour)
    middle.set(ylabel="share of merged pairs", ylim=(0, 1))
    nearest_curves(right, run, colours=[colour] * len(run.systems))


def nearest_curves(axis: Axes, run: Run, *, colours: list) -> None:
    """Distance to the nearest neighbour over that at the start, a line per seed; grey where it does not cluster."""
    for values, happened, colour in zip(run.order["nearest_distance"].T, clustered(run), colours, strict=True):
        axis.semilogy(run.times, values, color=colour if happened else style.GREY, linewidth=0.7, alpha=0.8)
    axis.set(xlabel="t", ylabel="nearest neighbour / start")


def planar_flow(runs: list[Run], *, colour: str) -> Figure:
    """The multi-head flow in the plane at its snapshots, freed of growth."""
    (run,) = runs
    figure, upper, lower = page(height=3.6, shares=(1.25, 1))
    plane_row(upper, run, colour=colour)
    flow_curves(lower, run, colour=colour)
    return figure


def plane_row(part: Figure, run: Run, *, colour: str) -> None:
    """A flow in the plane at its snapshots, freed of growth."""
    path = without_growth(run.path)
    limits = limits_of(path)
    for axis, t in zip(part.subplots(1, len(run.snapshots)), run.snapshots, strict=True):
        plane_panel(axis, recent(run, path, t), colour=colour, title=f"t = {t:g}", limits=limits)


def more_tokens(runs: list[Run]) -> Figure:
    """The multi-head flow of many tokens, and the value spectrum of every seed's sum of heads."""
    (run,) = runs
    figure, upper, lower = page(height=3.8, shares=(1.25, 1.1))
    plane_row(upper, run, colour=style.PURPLE)
    left, right = lower.subfigures(1, 2, width_ratios=(1, 3))
    axis = left.subplots()
    total, happened = np.linalg.eigvals(run.value.sum(1)), clustered(run)
    for chosen, colour, label in ((happened, style.PURPLE, "clusters"), (~happened, style.GREY, "does not")):
        found = total[chosen].ravel()
        axis.scatter(found.real, found.imag, s=8, color=colour, linewidths=0, label=label)
    axis.axhline(0, color=style.GREY, linewidth=0.4)
    axis.axvline(0, color=style.GREY, linewidth=0.4)
    axis.set(xlabel="Re λ, sum of heads", ylabel="Im λ")
    axis.legend(fontsize=6, handletextpad=0.1)
    flow_curves(right, run, colour=style.PURPLE)
    return figure


def multihead_3d(runs: list[Run]) -> Figure:
    """The multi-head flow in space at four times."""
    (run,) = runs
    figure, upper, lower = page(height=3.8, shares=(1.4, 1))
    path = without_growth(run.path)
    limits = limits_of(path, margin=0.0)
    for column, t in enumerate(run.snapshots):
        axis = upper.add_subplot(1, len(run.snapshots), column + 1, projection="3d")
        space_panel(
            axis, recent(run, path, t, span=1.5), colour=style.GREEN, title=f"t = {t:g}", limits=limits, zoom=1.55
        )
    flow_curves(lower, run, colour=style.GREEN)
    return figure


def convergence_rate(runs: list[Run]) -> Figure:
    """Distance to the nearest neighbour over time, seed by seed; fitted rates against the leading eigenvalue."""
    (run,) = runs
    figure, (left, right) = style.new_figure(1, 2, height=2.6)
    rate, fit = fits(run)
    growth = leading(run).real
    nearest_curves(left, run, colours=list(style.plt.cm.viridis(np.linspace(0, 0.9, len(rate)))))
    span = np.array([0, growth.max() * 1.1])
    right.plot(span, span, color=style.GREY, linewidth=0.7, linestyle="--", label="rate = Re λ")
    shown = right.scatter(
        growth, rate, c=fit, cmap="viridis", vmin=0.5, vmax=1, s=16, edgecolors="black", linewidths=0.3
    )
    figure.colorbar(shown, ax=right, label="R² of the fit")
    none = ~clustered(run)
    right.plot(growth[none], np.zeros(none.sum()), "x", color=style.GREY, markersize=4, label="does not cluster")
    right.axvline(0, color=style.GREY, linewidth=0.5)
    right.set(xlabel="largest Re λ of the sum of heads", ylabel="fitted rate")
    right.legend()
    style.letter([left, right])
    return figure


def multihead_eigenvalues(runs: list[Run]) -> Figure:
    """Value spectra of single heads and of their sum for four seeds, with the flow each of them leads to."""
    (run,) = runs
    shown = range(min(4, len(run.final)))
    figure, axes = style.new_figure(2, len(shown), height=3.7)
    for seed in shown:
        axis = axes[seed]
        heads, total = np.linalg.eigvals(run.value[seed]), np.linalg.eigvals(run.value[seed].sum(0))
        axis.scatter(heads.real, heads.imag, s=7, color=style.GREY, label="single heads")
        axis.scatter(total.real, total.imag, s=26, color=style.RED, marker="D", label="sum of heads")
        axis.axhline(0, color=style.GREY, linewidth=0.4)
        axis.axvline(0, color=style.GREY, linewidth=0.4)
        axis.set(xlim=(-2.4, 2.4), ylim=(-1.6, 1.6), title=f"seed {run.systems[seed, 2]:g}", xlabel="Re λ")
        plane_panel(axes[len(shown) + seed], without_growth(run.final[seed][None]), colour=style.GREEN, title="")
        count = int(run.order["places"][-1, seed])
        plural = "s" if count > 1 else ""
        axes[len(shown) + seed].set(
            title=f"t = {run.times[-1]:g}: {count} cluster{plural}", xlim=(-2.6, 2.6), ylim=(-2.6, 2.6)
        )
    axes[0].set_ylabel("Im λ")
    axes[0].legend(fontsize=6, loc="upper left")
    return figure


def effect(runs: list[Run]) -> Figure:
    """What comes out against the swept setting: every seed a dot, mean or share and 95 % interval in front."""
    figure, axes = style.new_figure(2, 2, height=3.9)
    (key, *_), names = zip(*(run.swept for run in runs), strict=True)
    places, look = range(len(runs)), {"fmt": "o-", "color": style.GREEN, "capsize": 2, "linewidth": 1}
    for axis, title, values in (
        (axes[0], "share of merged pairs", [run.order["merged_places"][-1] for run in runs]),
        (axes[1], "nearest neighbour / start", [run.order["nearest_distance"][-1] for run in runs]),
        (axes[3], "rate where it clusters", [fits(run)[0] for run in runs]),
    ):
        for place, these in enumerate(values):
            axis.scatter(place + np.linspace(-0.16, 0.16, len(these)), these, s=4, color=style.GREY, alpha=0.7)
        axis.errorbar(places, [*map(mean, values)], [*map(half_width, values)], **look)
        axis.set_ylabel(title)
    shares = np.array([clustered(run).mean() for run in runs])
    ends = np.array([share_interval(int(clustered(run).sum()), len(run.systems)) for run in runs])
    axes[2].errorbar(places, shares, np.abs(ends.T - shares), **look)
    axes[2].set(ylabel="systems that cluster", ylim=(0, 1.02))
    for axis in axes:
        axis.set(xticks=places, xticklabels=names, xlabel=key)
    style.letter(axes)
    return figure


def master_equation(runs: list[Run]) -> Figure:
    """Error of the linear prediction over time, for starts of different size."""
    figure, (axis,) = style.new_figure(1, 1, width=style.COLUMN, height=2.5)
    for run, colour in zip(runs, style.plt.cm.viridis(np.linspace(0, 0.85, len(runs))), strict=True):
        log = [mean_interval(np.log(errors)) for errors in run.order["relative_error"][1:]]  # no error at the start
        low, middle, high = np.exp([(one.low, one.value, one.high) for one in log]).T
        axis.semilogy(run.times[1:], middle, color=colour, label=f"start × {run.settings['start_scale']:g}")
        axis.fill_between(run.times[1:], low, high, color=colour, alpha=0.18, linewidth=0)
    axis.axhline(0.1, color=style.GREY, linewidth=0.6, linestyle=":")
    axis.set(xlabel="t", ylabel="relative error with P held", ylim=(1e-5, 20))
    axis.legend(fontsize=6, loc="lower right")
    return figure
