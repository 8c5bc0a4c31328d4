"""The simulated figures of T: tokens on the sphere under causal attention, and the phase diagram."""

from functools import partial

import numpy as np
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.particle_panels import circle_panel, curve, page, sphere_row
from clusterlens.particles.runs import Run
from clusterlens.particles.theory import boundary


def fig3(runs: list[Run]) -> Figure:
    """T Fig. 3: random Q and K as in the caption, Q'K = I as in the text."""
    identity, random = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    sphere_row(upper, random, random.snapshots, colour=style.BLUE, name="random Q, K", first=True)
    sphere_row(upper, identity, identity.snapshots, row=1, colour=style.BLUE, name="Q'K = I", first=True)
    left, right = lower.subplots(1, 2)
    for run, colour, label in ((random, style.ORANGE, "random Q, K"), (identity, style.BLUE, "Q'K = I")):
        curve(left, run, "clusters", colour=colour, label=label)
        curve(right, run, "mean_cosine", colour=colour, label=label)
    left.set(ylabel="clusters", yscale="log", ylim=(0.8, 70))
    left.axhline(1, color=style.GREY, linewidth=0.6, linestyle=":")
    left.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    left.minorticks_off()
    right.set_ylabel("mean cosine of pairs")
    right.legend(loc="lower right")
    return figure


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
    figure, upper, lower = page(height=4.7, shares=(2.1, 1))
    rows = ((literal, style.GREY, "V = −I"), (mixed, style.BLUE, "V = diag(−1, 1)"))
    axes = iter(upper.subplots(2, len(literal.snapshots)).flat)
    for run, colour, name in rows:
        for column, t in enumerate(run.snapshots):
            title = f"t = {t:g}" if column else f"{name}, t = {t:g}"
            circle_panel(next(axes), run.path[: run.at(t) + 1], colour=colour, title=title, first=True)
    left, right = lower.subplots(1, 2)
    for run, colour, name in rows:
        curve(left, run, "clusters", colour=colour, label=name)
        curve(right, run, "largest_gap", colour=colour, label=name)
    left.set(ylabel="clusters", ylim=(0, 19))
    left.axhline(2, color=style.GREY, linewidth=0.6, linestyle=":")
    right.set(ylabel="largest gap (degrees)", yticks=[0, 60, 120, 180])
    right.axhline(180, color=style.GREY, linewidth=0.6, linestyle=":")
    right.legend(loc="center right")
    return figure


def fig6(runs: list[Run]) -> Figure:
    """T Fig. 6: repulsion in 3-D, literal and with two positive eigenvalues."""
    literal, mixed = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    row = partial(sphere_row, upper, first=True, view=(15, 40))
    row(literal, literal.snapshots, colour=style.GREY, name="V = −I")
    row(mixed, mixed.snapshots, row=1, colour=style.BLUE, name="diag(−1, ½, ½)")
    left, right = lower.subplots(1, 2)
    for run, colour, name in ((literal, style.GREY, "V = −I"), (mixed, style.BLUE, "V = diag(−1, ½, ½)")):
        curve(left, run, "clusters", colour=colour, label=name)
        curve(right, run, "nearest_neighbour", colour=colour, label=name)
    left.set(ylabel="clusters", ylim=(0, 66))
    right.set(ylabel="nearest token (degrees)", ylim=(0, None))
    right.legend(loc="center right")
    return figure


def phase_diagram(runs: list[Run]) -> Figure:
    """Share of merged pairs over time and beta, full and causal, in the plane and from nearly orthogonal starts."""
    figure, axes = style.new_figure(2, 2, height=4.6, sharex=True, sharey=True)
    names = {"attention": "full attention", "causal": "causal attention"}
    for axis, run in zip(axes, runs, strict=True):
        betas = run.betas
        share = np.stack([run.order["merged_pairs"][:, run.chosen(beta=beta)].mean(1) for beta in betas], axis=1)
        image = axis.pcolormesh(
            betas, run.times, share, cmap="RdBu_r", vmin=0, vmax=1, shading="nearest", rasterized=True
        )
        axis.plot(betas, boundary(betas, n=run.path.shape[1], end=run.times[-1]), color="black", linewidth=1.2)
        axis.set_title(f"{names[run.settings['field']]}, d = {run.path.shape[2]}")
        axis.set(ylim=(0, run.times[-1]))
    for axis in axes[2:]:
        axis.set_xlabel("β")
    for axis in axes[::2]:
        axis.set_ylabel("t")
    figure.colorbar(image, ax=axes, label="share of pairs with cosine > .999", shrink=0.8)
    style.letter(axes)
    return figure
