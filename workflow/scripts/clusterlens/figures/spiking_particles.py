"""The simulated figures of S: tokens under spiking self-attention."""

import numpy as np
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.particle_panels import curve, page, sphere_panel, sphere_row
from clusterlens.metrics.statistics import half_width, mean
from clusterlens.particles.runs import Run


def fig1(runs: list[Run]) -> Figure:
    """S Fig. 1: smooth spikes above, hard spikes below, and what the order parameters say."""
    smooth, hard, silent = runs
    figure, upper, lower = page(height=5.5, shares=(2.7, 1))
    sphere_row(upper, smooth, smooth.snapshots, colour=style.BLUE, name="Eq. 9")
    sphere_row(upper, hard, [0, 1, 2, hard.times[-1]], row=1, colour=style.ORANGE, name="Eq. 8")
    left, middle, right = lower.subplots(1, 3)
    labels = ("Eq. 9", *(f"Eq. 8, threshold {run.settings['threshold']:g}" for run in (hard, silent)))
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


def fig1_sweep(runs: list[Run]) -> Figure:
    """S §6.4.1: the end of the first seed for every pair, and order parameters early and late for both thresholds."""
    run = runs[0]
    early, late = 15.0, run.times[-1]
    betas, taus = run.betas, np.unique(run.systems[:, 1])
    figure = style.plt.figure(figsize=(style.PAGE, 4.9))
    left, right = figure.subfigures(1, 2, width_ratios=[1.3, 1])
    for row, beta in enumerate(betas):
        for column, tau in enumerate(taus):
            axis = left.add_subplot(len(betas), len(taus), row * len(taus) + column + 1, projection="3d")
            first_seed = run.final[run.chosen(beta=beta, steepness=tau)][:1]
            sphere_panel(axis, first_seed, colour=style.BLUE, title=f"β = {beta:g}, τ = {tau:g}")
    left.suptitle(f"t = {late:g}, threshold {run.settings['threshold']:g}, first seed", fontsize=8)
    axes = right.subplots(3, 2, sharex=True, sharey="row")
    names = {"clusters": "clusters", "mean_cosine": "mean cosine", "cosine_to_diagonal": "cosine to diagonal"}
    for column, t in enumerate((early, late)):
        for run, marker, line in zip(runs, "os", ("-", ":"), strict=True):
            for beta, colour, shift in zip(
                betas, style.PALETTE, np.resize([0.95, 1.0, 1.05], len(betas)), strict=False
            ):
                look = {"color": colour, "marker": marker, "linestyle": line, "capsize": 1.5, "linewidth": 1}
                label = f"β = {beta:g}, threshold {run.settings['threshold']:g}"
                for axis, measure in zip(axes[:, column], names, strict=True):
                    chosen = [run.chosen(beta=beta, steepness=tau) for tau in taus]
                    values = [run.order[measure][run.at(t), these] for these in chosen]
                    axis.errorbar(taus * shift, [*map(mean, values)], [*map(half_width, values)], label=label, **look)
        axes[0, column].set_title(f"t = {t:g}")
        axes[2, column].set(xlabel="steepness τ", xscale="log", xticks=taus, xticklabels=[f"{tau:g}" for tau in taus])
        axes[2, column].minorticks_off()
    for axis, name in zip(axes[:, 0], names.values(), strict=True):
        axis.set_ylabel(name)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    right.legend(handles, labels, fontsize=6, loc="outside lower center", ncols=2)
    return figure
