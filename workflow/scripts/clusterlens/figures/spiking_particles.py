"""The simulated figures of S: tokens under spiking self-attention."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlens.figures import style
from clusterlens.figures.particle_panels import curve, page, sphere_panel, sphere_row
from clusterlens.figures.seeds import seed_means
from clusterlens.particles.runs import Run

VIEW = (20, 15)  # from where (1, 1, 1) and the three axes are on the near side
LINES = (("o", "-"), ("s", ":"))  # marker and line of each threshold


def fig1(runs: list[Run]) -> Figure:
    """S Fig. 1: smooth spikes above, hard spikes below, and what the order parameters say."""
    smooth, hard, silent = runs
    figure, upper, lower = page(height=5.8, shares=(2.3, 1))
    look: dict[str, Any] = {"view": VIEW, "diagonal": True}
    sphere_row(upper, smooth, smooth.snapshots, colour=style.BLUE, name="Eq. 9", **look)
    sphere_row(upper, hard, [0, 1, 2, hard.times[-1]], row=1, colour=style.ORANGE, name="Eq. 8", **look)
    left, middle, right = lower.subplots(1, 3)
    labels = ("Eq. 9", *(f"Eq. 8, threshold {run.settings['threshold']:g}" for run in (hard, silent)))
    for run, colour, label in zip(runs, (style.BLUE, style.ORANGE, style.GREY), labels, strict=True):
        curve(left, run, "clusters", colour=colour, label=label, marks=False, bounds=(1, np.inf))
        curve(middle, run, "mean_cosine", colour=colour, marks=False, bounds=(-1, 1))
        curve(right, run, "cosine_to_diagonal", colour=colour, marks=False, bounds=(-1, 1))
    left.set_ylabel("clusters")
    left.set_ylim(0)
    middle.set_ylabel("mean cosine\nof pairs")
    right.set_ylabel("cosine to\n(1, 1, 1)/√3")
    lower.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def fig1_sweep(runs: list[Run]) -> Figure:
    """S §6.4.1: the end of the first seed for every pair, and order parameters early and late for both thresholds."""
    run = runs[0]
    early, late = run.snapshots[0], run.times[-1]
    betas, taus = run.betas, np.unique(run.systems[:, 1])
    figure = style.plt.figure(figsize=(style.PAGE, 4.9))
    left, right = figure.subfigures(1, 2, width_ratios=[1.3, 1])
    for row, beta in enumerate(betas):
        for column, tau in enumerate(taus):
            axis = left.add_subplot(len(betas), len(taus), row * len(taus) + column + 1, projection="3d")
            first_seed = run.final[run.chosen(beta=beta, steepness=tau)][:1]
            title = f"β = {beta:g}, τ = {tau:g}"
            sphere_panel(axis, first_seed, colour=style.BLUE, title=title, view=VIEW, diagonal=True)
    left.suptitle(f"t = {late:g}, threshold {run.settings['threshold']:g}, first seed", fontsize=8)
    axes = right.subplots(3, 2, sharex=True, sharey="row")
    names = {"clusters": "clusters", "mean_cosine": "mean cosine", "cosine_to_diagonal": "cosine to diagonal"}
    colours = dict(zip(betas, style.PALETTE, strict=False))
    lines = dict(zip((run.settings["threshold"] for run in runs), LINES, strict=False))
    for column, t in enumerate((early, late)):
        for axis, (measure, name) in zip(axes[:, column], names.items(), strict=True):
            table = pd.concat([sweep_table(run, measure, t) for run in runs])
            for (threshold, beta), part in table.groupby(["threshold", "beta"]):
                marker, line = lines[threshold]
                look = {"marker": marker, "linestyle": line, "linewidth": 1, "markersize": 4, "markeredgewidth": 0}
                seed_means(axis, part, "tau", "value", colour=colours[beta], **look)
            axis.set_ylabel(name)
        axes[0, column].set_title(f"t = {t:g}")
        axes[2, column].set(xlabel="steepness τ", xscale="log", xticks=taus, xticklabels=[f"{tau:g}" for tau in taus])
        axes[2, column].minorticks_off()
    handles = [Line2D([], [], color=colour, label=f"β = {beta:g}") for beta, colour in colours.items()]
    for threshold, (marker, line) in lines.items():
        look = {"color": style.BLACK, "marker": marker, "linestyle": line, "linewidth": 1}
        handles.append(Line2D([], [], **look, label=f"threshold {threshold:g}"))
    right.legend(handles=handles, fontsize=6.5, loc="outside lower center", ncols=3)
    return figure


def sweep_table(run: Run, measure: str, t: float) -> pd.DataFrame:
    """A measure at time t for every system; the places of the betas are spread a little around each tau."""
    beta, tau, seed = run.systems.T
    shift = dict(zip(run.betas, np.resize([0.95, 1.0, 1.05], len(run.betas)), strict=True))
    values = run.order[measure][run.at(t)]
    table = pd.DataFrame({"beta": beta, "tau": tau * [shift[one] for one in beta], "seed": seed, "value": values})
    return table.assign(threshold=run.settings["threshold"])
