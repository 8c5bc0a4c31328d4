"""The simulated figures of S and T: tokens on the sphere."""

import numpy as np
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.particle_data import Run, mean_spread
from clusterlens.figures.particle_panels import best_view, circle_panel, curve, sphere_panel
from clusterlens.particles.theory import boundary


def page(*, height: float, shares: tuple[float, float]) -> tuple[Figure, Figure, Figure]:
    """A page with an upper part for tokens and a lower part for curves."""
    figure = style.plt.figure(figsize=(style.PAGE, height))
    upper, lower = figure.subfigures(2, 1, height_ratios=shares)
    return figure, upper, lower


def sphere_row(
    part: Figure,
    run: Run,
    times: list[float],
    *,
    row: int = 0,
    rows: int,
    colour: str,
    name: str = "",
    first: bool,
    view=None,
) -> None:
    """One run at several times, side by side, seen from where most clusters show unless told otherwise."""
    view = view or best_view(run.path[-1])
    for column, t in enumerate(times):
        axis = part.add_subplot(rows, len(times), row * len(times) + column + 1, projection="3d")
        title = f"t = {t:g}" if column or not name else f"{name}, t = {t:g}"
        sphere_panel(axis, run.path[: run.at(t) + 1], colour=colour, title=title, first=first, view=view)


def spiking_fig1(runs: list[Run]) -> Figure:
    """S Fig. 1: smooth spikes above, hard spikes below, and what the order parameters say."""
    smooth, hard, silent = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    sphere_row(upper, smooth, smooth.snapshots, row=0, rows=2, colour=style.BLUE, name="Eq. 9", first=False)
    sphere_row(upper, hard, [0, 1, 2, hard.times[-1]], row=1, rows=2, colour=style.ORANGE, name="Eq. 8", first=False)
    left, middle, right = lower.subplots(1, 3)
    labels = (
        "Eq. 9",
        f"Eq. 8, threshold {hard.settings['threshold']:g}",
        f"Eq. 8, threshold {silent.settings['threshold']:g}",
    )
    for run, colour, label in zip(runs, (style.BLUE, style.ORANGE, style.GREY), labels, strict=True):
        curve(left, run, "clusters", colour=colour, label=label, marks=False)
        curve(middle, run, "mean_cosine", colour=colour, marks=False)
        curve(right, run, "cosine_to_diagonal", colour=colour, marks=False)
    left.set_ylabel("clusters")
    left.set_ylim(0)
    middle.set_ylabel("mean cosine of pairs")
    right.set_ylabel("cosine to (1,1,1)/√3")
    left.legend(loc="center right", fontsize=6)
    return figure


def spiking_fig1_sweep(runs: list[Run]) -> Figure:
    """S §6.4.1: final states of the first seed for every pair, and the order parameters over both thresholds."""
    run = runs[0]
    betas, taus = (np.unique(run.systems[:, column]) for column in (0, 1))
    figure = style.plt.figure(figsize=(style.PAGE, 4.4))
    left, right = figure.subfigures(1, 2, width_ratios=[1.55, 1])
    for row, beta in enumerate(betas):
        for column, tau in enumerate(taus):
            axis = left.add_subplot(len(betas), len(taus), row * len(taus) + column + 1, projection="3d")
            chosen = np.flatnonzero((run.systems[:, 0] == beta) & (run.systems[:, 1] == tau))[0]
            sphere_panel(axis, run.final[chosen][None], colour=style.BLUE, title=f"β = {beta:g}, τ = {tau:g}")
    left.suptitle(f"t = {run.times[-1]:g}, threshold {run.settings['threshold']:g}, first seed", fontsize=8)
    axes = right.subplots(2, 1, sharex=True)
    for run, marker in zip(runs, "os", strict=True):
        for beta, colour in zip(betas, style.PALETTE, strict=False):
            for axis, measure in zip(axes, ("mean_cosine", "clusters"), strict=True):
                chosen = [(run.systems[:, 0] == beta) & (run.systems[:, 1] == tau) for tau in taus]
                mean, spread, _ = zip(*(mean_spread(run.order[measure][-1, these]) for these in chosen), strict=True)
                style_of = {"color": colour, "marker": marker, "linestyle": "-" if marker == "o" else ":"}
                label = f"β = {beta:g}, threshold {run.settings['threshold']:g}"
                shift = {0: 0.96, 1: 1.0, 2: 1.04}[int(np.flatnonzero(betas == beta)[0]) % 3]
                axis.errorbar(taus * shift, mean, spread, label=label, capsize=1.5, linewidth=1, **style_of)
    axes[0].set_ylabel("mean cosine of pairs")
    axes[1].set(
        ylabel="clusters", xlabel="steepness τ", xscale="log", xticks=taus, xticklabels=[f"{tau:g}" for tau in taus]
    )
    axes[1].minorticks_off()
    axes[1].legend(fontsize=5.8, loc="upper left")
    return figure


def transformers_fig3(runs: list[Run]) -> Figure:
    """T Fig. 3: random Q and K as in the caption, Q'K = I as in the text."""
    identity, random = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    sphere_row(upper, random, random.snapshots, row=0, rows=2, colour=style.BLUE, name="random Q, K", first=True)
    sphere_row(upper, identity, identity.snapshots, row=1, rows=2, colour=style.BLUE, name="Q'K = I", first=True)
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


def transformers_fig4(runs: list[Run]) -> Figure:
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


def transformers_fig5(runs: list[Run]) -> Figure:
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


def transformers_fig6(runs: list[Run]) -> Figure:
    """T Fig. 6: repulsion in 3-D, literal and with two positive eigenvalues."""
    literal, mixed = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    sphere_row(
        upper, literal, literal.snapshots, row=0, rows=2, colour=style.GREY, name="V = −I", first=True, view=(15, 40)
    )
    sphere_row(
        upper,
        mixed,
        mixed.snapshots,
        row=1,
        rows=2,
        colour=style.BLUE,
        name="diag(−1, ½, ½)",
        first=True,
        view=(15, 40),
    )
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
    names = {"full": "full attention", "causal": "causal attention"}
    for axis, run in zip(axes, runs, strict=True):
        betas = np.unique(run.systems[:, 0])
        share = np.stack([run.order["merged_pairs"][:, run.systems[:, 0] == beta].mean(1) for beta in betas], axis=1)
        image = axis.pcolormesh(
            betas, run.times, share, cmap="RdBu_r", vmin=0, vmax=1, shading="nearest", rasterized=True
        )
        axis.plot(betas, boundary(betas, n=run.path.shape[1], end=run.times[-1]), color="black", linewidth=1.2)
        axis.set_title(f"{names[run.label.split('_')[0]]}, d = {run.path.shape[2]}")
        axis.set(ylim=(0, run.times[-1]))
    for axis in axes[2:]:
        axis.set_xlabel("β")
    for axis in axes[::2]:
        axis.set_ylabel("t")
    figure.colorbar(image, ax=axes, label="share of pairs with cosine > .999", shrink=0.8)
    style.letter(axes)
    return figure
