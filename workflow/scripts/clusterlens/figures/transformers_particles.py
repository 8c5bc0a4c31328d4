"""The simulated figures of T: tokens on the sphere under causal attention, and the phase diagram."""

from functools import partial

import numpy as np
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.particle_panels import band, circle_panel, curve, page, sphere_row
from clusterlens.figures.seeds import points, share_line
from clusterlens.metrics import order
from clusterlens.particles.runs import Run
from clusterlens.particles.theory import boundary, even_spacing, random_spacing, uniform_causal


def fig3(runs: list[Run]) -> Figure:
    """T Fig. 3: random Q and K as in the caption, Q'K = I as in the text."""
    identity, random, identity_long, random_long = runs
    figure, upper, lower = page(height=4.9, shares=(2.2, 1))
    times = with_start(random.snapshots)
    sphere_row(upper, random, times, colour=style.ORANGE, name="random Q, K", first=True)
    sphere_row(upper, identity, times, row=1, colour=style.BLUE, name="Q'K = I", first=True)
    left, middle, right = lower.subplots(1, 3)
    for run, colour, label in ((random_long, style.ORANGE, "random Q, K"), (identity_long, style.BLUE, "Q'K = I")):
        curve(left, run, "clusters", colour=colour, label=label, bounds=(1, np.inf), marks=False)
        share_line(middle, run.times, run.order["clusters"] == 1, colour=colour)
        curve(right, run, "mean_cosine", colour=colour, label=label, bounds=(-1, 1), marks=False)
    middle.axvline(12, color=style.GREY, linewidth=0.6, linestyle=":")
    middle.text(12.4, 0.02, "t = 12", fontsize=6)
    middle.set(xlabel="t", ylabel="share of seeds\nin one cluster", ylim=(0, 1.03))
    left.set(ylabel="clusters", yscale="log", ylim=(0.8, 70))
    left.axhline(1, color=style.GREY, linewidth=0.6, linestyle=":")
    left.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    left.minorticks_off()
    right.set(ylabel="mean cosine of pairs", ylim=(-0.05, 1.05))
    right.legend(loc="lower right")
    return figure


def with_start(snapshots: list[float]) -> list[float]:
    return [0, *(t for t in snapshots if t)]


def fig4(runs: list[Run]) -> Figure:
    """T Fig. 4: several clusters persist at high beta."""
    (run,) = runs
    figure, upper, lower = page(height=3.7, shares=(1.45, 1))
    sphere_row(upper, run, run.snapshots, rows=1, colour=style.BLUE, first=True)
    left, right = lower.subplots(1, 2)
    curve(left, run, "clusters", colour=style.BLUE)
    left.set(ylabel="clusters", yscale="log")
    left.axhspan(4, 6, color=style.GREEN, alpha=0.15, linewidth=0)
    left.set_yticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
    left.minorticks_off()
    curve(right, run, "silhouette", colour=style.GREEN, label="silhouette")
    curve(right, run, "mean_cosine", colour=style.BLUE, label="mean cosine of pairs")
    right.legend(loc="center right")
    right.set_ylabel("order parameter")
    return figure


def fig5(runs: list[Run]) -> Figure:
    """T Fig. 5: the caption's V = -I beside the V that gives two antipodal clusters."""
    literal, mixed = runs
    figure, upper, lower = page(height=5.2, shares=(2.5, 1))
    rows = ((literal, style.GREY, "V = −I"), (mixed, style.BLUE, "V = diag(−1, 1)"))
    axes = iter(upper.subplots(2, len(literal.snapshots)).flat)
    for run, colour, name in rows:
        for column, t in enumerate(run.snapshots):
            title = f"t = {t:g}" if column else f"{name}, t = {t:g}"
            circle_panel(next(axes), run.path[: run.at(t) + 1], colour=colour, title=title, first=True)
    left, middle, right = lower.subplots(1, 3)
    for run, colour, name in rows:
        curve(left, run, "clusters", colour=colour, label=name, bounds=(1, np.inf))
        curve(middle, run, "largest_gap", colour=colour, label=name, bounds=(0, 360))
        curve(right, run, "nearest_neighbour", colour=colour, bounds=(0, 180))
    left.set(ylabel="clusters", ylim=(0, None))
    left.axhline(2, color=style.GREY, linewidth=0.6, linestyle=":")
    middle.set(ylabel="largest gap\n(degrees)", yticks=[0, 60, 120, 180])
    middle.axhline(180, color=style.GREY, linewidth=0.6, linestyle=":")
    middle.legend(loc="center right")
    n = literal.path.shape[1]
    for angle, name in ((even_spacing(n), "evenly spaced"), (random_spacing(n), "placed at random")):
        right.axhline(angle, color=style.RED, linewidth=0.6, linestyle=":")
        right.text(15, angle - 0.3, name, ha="right", va="top", fontsize=6)
    right.set(ylabel="nearest token\n(degrees)", ylim=(0, 6.4))
    return figure


def fig6(runs: list[Run]) -> Figure:
    """T Fig. 6: repulsion in 3-D, literal and with two positive eigenvalues."""
    literal, mixed = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    row = partial(sphere_row, upper, first=True, view=(15, 40))
    row(literal, literal.snapshots, colour=style.GREY, name="V = −I")
    row(mixed, mixed.snapshots, row=1, colour=style.BLUE, name="diag(−1, ½, ½)")
    axes = lower.subplots(1, 3)
    for run, colour, name in ((literal, style.GREY, "V = −I"), (mixed, style.BLUE, "V = diag(−1, ½, ½)")):
        for axis, measure in zip(axes, ("clusters", "near_equator", "common_turn"), strict=True):
            curve(axis, run, measure, colour=colour, label=name)
    axes[0].set(ylabel="clusters", ylim=(0, 66))
    axes[1].set(ylabel="share near\nthe equator", ylim=(0, 1.03))
    axes[1].axhline(np.sin(np.radians(order.NEAR)), color=style.RED, linewidth=0.6, linestyle=":")
    axes[2].set(ylabel="common turn\n(degrees)", ylim=(0, 90), yticks=[0, 30, 60, 90])
    axes[2].legend(loc="upper left")
    return figure


def eigenvalue_sweep(runs: list[Run]) -> Figure:
    """V = diag(-1, second): the end of the first seed for each second eigenvalue, and two measures of gathering."""
    figure, upper, lower = page(height=3.4, shares=(1, 1.35))
    second = np.array([float(run.swept[1]) for run in runs])
    for axis, run in zip(upper.subplots(1, len(runs)), runs, strict=True):
        circle_panel(axis, run.path, colour=style.BLUE, title=f"diag(−1, {run.swept[1].replace('-', '−')})", first=True)
    chance = {"largest_gap": None, "near_eigenvector": 4 * order.NEAR / 360}
    for axis, (measure, expected) in zip(lower.subplots(1, 2), chance.items(), strict=True):
        points(axis, [run.order[measure][-1] for run in runs], [f"{value:g}" for value in second], colour=style.BLUE)
        axis.set_xlabel("second eigenvalue of V")
        if expected is not None:
            axis.axhline(expected, color=style.RED, linewidth=0.6, linestyle=":")
        axis.set_ylabel({"largest_gap": "largest gap (degrees)"}.get(measure, "share near the leading\neigenvector"))
        axis.set_ylim(0, None)
    return figure


def sinks(runs: list[Run]) -> Figure:
    """Attention received by place in the sequence for the first seed, and the first token's over the median's."""
    figure, (left, right) = style.new_figure(1, 2, height=2.7)
    n = runs[0].path.shape[1]
    uniform = order.received(uniform_causal(n))
    place = np.arange(1, n + 1)
    names = {"identity": "β = 1", "random": "random Q, K", "high_beta": "β = 9", "unequal": "V = diag(1, ½, ¼)"}
    for run, colour in zip(runs, style.PALETTE, strict=False):
        name = names[run.label]
        left.plot(place, order.received(run.attention[-1]), ".", color=colour, markersize=3, label=name)
        band(right, run.times, run.order["received_first"] / run.order["received_median"], colour=colour)
    left.plot(place, uniform, color=style.BLACK, linewidth=1, label="uniform")
    right.axhline(uniform[0] / np.median(uniform), color=style.BLACK, linewidth=1)
    left.set(xlabel="place in the sequence", ylabel=f"attention received, t = {runs[0].snapshots[-1]:g}")
    left.set(xscale="log", yscale="log", ylim=(0.01, 20))
    left.legend(fontsize=6, loc="lower left")
    right.set(ylabel="first token / median token", ylim=(0, None))
    style.letter([left, right])
    return figure


def phase_diagram(runs: list[Run]) -> Figure:
    """Share of merged pairs over time and beta, full and causal, in the plane and from nearly orthogonal starts."""
    figure, axes = style.new_figure(2, 2, height=4.6, sharex=True, sharey=True)
    names = {"attention": "full attention", "causal": "causal attention"}
    for axis, run in zip(axes, runs, strict=True):
        betas = run.betas
        share = np.stack([run.order["merged_pairs"][:, run.chosen(beta=beta)].mean(1) for beta in betas], axis=1)
        image = axis.pcolormesh(
            betas, run.times, share, cmap="viridis", vmin=0, vmax=1, shading="nearest", rasterized=True
        )
        theory = boundary(betas, n=run.path.shape[1], end=run.times[-1])
        axis.plot(betas, theory, color="black", linewidth=2.6)
        axis.plot(betas, theory, color="white", linewidth=1.3, label="theory: orthogonal tokens merge")
        field = run.settings["field"]
        axis.set_title(f"{names.get(field, field)}, d = {run.path.shape[2]}")
        axis.set(ylim=(0, run.times[-1]))
    for axis in axes[2:]:
        axis.set_xlabel("β")
    for axis in axes[::2]:
        axis.set_ylabel("t")
    figure.colorbar(image, ax=axes, label="share of pairs with cosine > .999", shrink=0.8)
    legend = axes[0].legend(loc="upper left", frameon=True, facecolor=style.GREY, framealpha=0.9, labelcolor="white")
    legend.get_frame().set_linewidth(0)
    style.letter(axes)
    return figure


def head_particles(runs: list[Run], *, sink: bool = False) -> Figure:
    """The first token is red; with `sink` the attention that it receives stands beside that of the median token."""
    (run,) = runs
    figure, upper, lower = page(height=3.9, shares=(1.45, 1))
    sphere_row(upper, run, run.snapshots, rows=1, colour=style.BLUE, first=True)
    entries = ", ".join(f"{entry:.2g}".replace("-", "−") for entry in np.diag(run.value[0, 0]))
    upper.suptitle(f"V = diag({entries})", fontsize=8)
    left, right = lower.subplots(1, 2)
    curve(left, run, "first_alignment", colour=style.RED, label="first token to V's eigenvector")
    curve(left, run, "first_to_others", colour=style.BLUE, label="first token to the others")
    left.set(ylabel="cosine", ylim=(None, 1.7), yticks=[0, 0.5, 1])
    left.legend(loc="upper right")
    if sink:
        curve(right, run, "received_by_first", colour=style.RED, label="first token")
        curve(right, run, "received_by_median", colour=style.GREY, label="median token")
        right.set(ylabel="attention received", ylim=(0, None))
        right.legend()
    else:
        curve(right, run, "clusters", colour=style.BLUE)
        right.set(ylabel="clusters", ylim=(0, None))
    return figure
