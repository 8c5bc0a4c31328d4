"""The simulated items of S."""

import numpy as np

from clusterlens.figures import spiking_particles as figures
from clusterlens.figures import style
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.metrics.numbers import number
from clusterlens.particles.numbers import name_of
from clusterlens.particles.runs import Run
from clusterlens.simulated.item import SimulatedItem


def sweep_numbers(runs: list[Run]) -> list[dict]:
    """Final order parameters for every pair of beta and tau; the first threshold carries no suffix."""
    rows = []
    for run in runs:
        suffix = "" if run is runs[0] else f" {run.label}"
        for beta, tau in np.unique(run.systems[:, :2], axis=0):
            chosen = run.chosen(beta=beta, steepness=tau)
            label = f"beta={beta:g} tau={tau:g}{suffix}"
            rows.append(number(label, "particles", run.path.shape[1]))
            rows += [number(label, name_of(measure), values[-1, chosen]) for measure, values in run.order.items()]
    return rows


ITEMS = {
    "fig1": SimulatedItem(figures.fig1, film=(FilmPanel(0, style.BLUE, "Eq. 9"), FilmPanel(1, style.ORANGE, "Eq. 8"))),
    "fig1_sweep": SimulatedItem(figures.fig1_sweep, tables=(sweep_numbers,)),
}
