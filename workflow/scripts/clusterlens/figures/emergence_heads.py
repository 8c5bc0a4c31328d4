"""The simulated figures of E on the flow with many random heads."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlens.figures import style
from clusterlens.figures.particle_panels import band, limits_of, page, plane_panel, recent, space_panel, without_growth
from clusterlens.figures.seeds import outcome_lines, shares, swarms
from clusterlens.metrics import order
from clusterlens.particles.numbers import clustered, fits, leading
from clusterlens.particles.runs import Run

NEAREST = "nearest neighbour\nrelative to start"
STRAIGHT = 0.9  # R² from which on a fit is drawn as a full disc


def flow_curves(part: Figure, run: Run, *, colour: str) -> None:
    """Clusters, merged pairs and distance to the nearest neighbour over time, a line for every seed."""
    axes = part.subplots(1, 3)
    happened = clustered(run)
    measures = {"places": "clusters", "merged_places": "share of\nmerged pairs", "nearest_distance": NEAREST}
    for axis, (measure, name) in zip(axes, measures.items(), strict=True):
        outcome_lines(axis, run.times, run.order[measure], happened, colour=colour)
        axis.set_ylabel(name)
    axes[0].set_ylim(0, None)
    axes[1].set_ylim(0, 1.02)
    axes[2].set_yscale("log")
    part.legend(handles=outcome_handles(happened, colour), loc="outside upper center", ncols=2, fontsize=6.5)


def outcome_handles(happened: np.ndarray, colour: str) -> list[Line2D]:
    """How many systems cluster and how many do not, for a legend."""
    names = {
        colour: f"clusters: {happened.sum()} of {len(happened)} seeds",
        style.GREY: f"does not cluster: {(~happened).sum()}",
    }
    return [Line2D([], [], color=shade, linewidth=1.2, label=name) for shade, name in names.items()]


def nearest_curves(axis: Axes, run: Run, *, colour: str) -> None:
    """Distance to the nearest neighbour over that at the start, a line per seed; grey where it does not cluster."""
    outcome_lines(axis, run.times, run.order["nearest_distance"], clustered(run), colour=colour)
    axis.set(yscale="log", ylabel=NEAREST)


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
    for axis, t in zip(part.subplots(1, len(run.snapshots), squeeze=False)[0], run.snapshots, strict=True):
        plane_panel(axis, recent(run, path, t), colour=colour, title=f"t = {t:g}", limits=limits)


def more_tokens(runs: list[Run]) -> Figure:
    """The multi-head flow of many tokens, and the value spectrum of every seed's sum of heads."""
    (run,) = runs
    figure, upper, lower = page(height=3.8, shares=(1.25, 1.1))
    plane_row(upper, run, colour=style.PURPLE)
    left, right = lower.subfigures(1, 2, width_ratios=(1, 3))
    axis = left.subplots()
    total, happened = np.linalg.eigvals(run.values.sum(1)), clustered(run)
    for chosen, colour, marker in ((happened, style.PURPLE, "o"), (~happened, style.GREY, "x")):
        found = total[chosen].ravel()
        axis.scatter(found.real, found.imag, s=9, color=colour, linewidths=0.8 if marker == "x" else 0, marker=marker)
    axis.axhline(0, color=style.GREY, linewidth=0.4)
    axis.axvline(0, color=style.GREY, linewidth=0.4)
    axis.set(xlabel="Re λ, sum of heads", ylabel="Im λ")
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
    figure, (left, right) = style.new_figure(1, 2, height=2.8)
    rate, fit = fits(run)
    growth, happened = leading(run).real, clustered(run)
    draw_fitted(left, run, happened)
    span = np.array([0, growth.max() * 1.1])
    right.plot(span, span, color=style.BLACK, linewidth=0.7, linestyle="--", label="rate = Re λ")
    straight = happened & (fit >= STRAIGHT)
    look = {"s": 18, "edgecolors": style.BLUE, "linewidths": 0.9}
    right.scatter(growth[straight], rate[straight], color=style.BLUE, label=f"R² ≥ {STRAIGHT}", **look)
    bent = happened & ~straight
    right.scatter(growth[bent], rate[bent], facecolors="white", label=f"R² < {STRAIGHT}", **look)
    none = ~happened
    right.plot(growth[none], np.zeros(none.sum()), "x", color=style.GREY, markersize=4, label="does not cluster")
    right.axvline(0, color=style.GREY, linewidth=0.5)
    right.set(xlabel="largest Re λ of the sum of heads", ylabel="fitted rate")
    right.legend(fontsize=6.5)
    style.letter([left, right])
    return figure


def draw_fitted(axis: Axes, run: Run, happened: np.ndarray) -> None:
    """Every seed as a line, strong as far as the rate is fitted; what follows is the plateau."""
    distances = run.order["nearest_distance"]
    outcome_lines(axis, run.times, distances[:, ~happened], np.zeros((~happened).sum(), bool), colour=style.BLUE)
    for values in distances[:, happened].T:
        end = order.end_of_fall(np.log(np.maximum(values, np.finfo(float).tiny)))
        axis.plot(run.times[:end], values[:end], color=style.BLUE, linewidth=0.9)
        axis.plot(run.times[end - 1 :], values[end - 1 :], color=style.BLUE, linewidth=0.4, alpha=0.4)
    axis.set(yscale="log", xlabel="t", ylabel=NEAREST)
    handles = outcome_handles(happened, style.BLUE)
    handles.insert(1, Line2D([], [], color=style.BLUE, linewidth=0.5, alpha=0.5, label="plateau, not fitted"))
    axis.legend(handles=handles, loc="lower left", fontsize=6.5)


def multihead_eigenvalues(runs: list[Run]) -> Figure:
    """Value spectra of single heads and of their sum for four seeds, with the flow each of them leads to."""
    (run,) = runs
    shown = range(min(4, len(run.final)))
    figure, axes = style.new_figure(2, len(shown), height=3.9)
    spectra = [(np.linalg.eigvals(run.values[seed]), np.linalg.eigvals(run.values[seed].sum(0))) for seed in shown]
    reach = 1.1 * max(np.abs([part.real, part.imag]).max() for pair in spectra for part in pair)
    clouds = [without_growth(run.final[seed][None]) for seed in shown]
    far = 1.1 * max(np.abs(cloud).max() for cloud in clouds)
    for seed, (heads, total), cloud in zip(shown, spectra, clouds, strict=True):
        axis, below = axes[seed], axes[len(shown) + seed]
        axis.scatter(heads.real, heads.imag, s=7, color=style.GREY, linewidths=0, label="single heads")
        axis.scatter(total.real, total.imag, s=22, color=style.RED, marker="D", linewidths=0, label="sum of heads")
        axis.axhline(0, color=style.GREY, linewidth=0.4)
        axis.axvline(0, color=style.GREY, linewidth=0.4)
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="Re λ")
        axis.set_title(f"seed {run.systems[seed, 2]:g}")
        plane_panel(below, cloud, colour=style.GREEN, title="", limits=np.array([[-far, far]] * 2))
        count = int(run.order["places"][-1, seed])
        below.set_title(f"t = {run.times[-1]:g}: {count} cluster{'s' if count > 1 else ''}")
    axes[0].set_ylabel("Im λ")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, handletextpad=0.2)
    return figure


def effect(runs: list[Run]) -> Figure:
    """What comes out against the swept setting: the share that clusters, and seeds with median and quartiles."""
    figure, axes = style.new_figure(2, 2, height=3.9)
    (key, *_), names = zip(*(run.swept for run in runs), strict=True)
    shares(axes[0], [clustered(run) for run in runs], names, colour=style.GREEN)
    axes[0].set(ylabel="share of systems\nthat cluster", ylim=(0, 1.02))
    for axis, title, values in (
        (axes[1], "share of merged pairs", [run.order["merged_places"][-1] for run in runs]),
        (axes[2], NEAREST, [run.order["nearest_distance"][-1] for run in runs]),
        (axes[3], "rate where it clusters", [fits(run)[0] for run in runs]),
    ):
        if title == NEAREST:
            axis.set_yscale("log")
        swarms(axis, values, names, colour=style.GREEN)
        axis.set_ylabel(title)
    for axis in axes:
        axis.set_xlabel(key)
    style.letter(axes)
    return figure


def master_equation(runs: list[Run]) -> Figure:
    """Error of the linear prediction over time, for starts of different size."""
    figure, (axis,) = style.new_figure(1, 1, width=style.COLUMN, height=2.5)
    for run, colour in zip(runs, style.plt.cm.viridis(np.linspace(0, 0.85, len(runs))), strict=True):
        errors, label = run.order["relative_error"][1:], f"start × {run.settings['start_scale']:g}"  # no error at t = 0
        band(axis, run.times[1:], errors, colour=to_hex(colour), label=label, on_log=True)
    axis.axhline(0.1, color=style.GREY, linewidth=0.6, linestyle=":")
    axis.set(xlabel="t", ylabel="relative error, P held constant", yscale="log", ylim=(1e-6, 60))
    axis.legend(fontsize=6, loc="lower right")
    return figure
