"""The simulated items of T."""

from functools import partial

import numpy as np

from clusterlens.figures import style
from clusterlens.figures import transformers_particles as figures
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.metrics.numbers import number
from clusterlens.particles.runs import Run
from clusterlens.particles.theory import boundary
from clusterlens.simulated.item import SimulatedItem


def phase_numbers(runs: list[Run]) -> list[dict]:
    """Merged pairs at the end, the time at which half are merged, and the time theory gives."""
    rows = []
    for run in runs:
        theory = boundary(run.betas, n=run.path.shape[1], end=run.times[-1])
        for beta, predicted in zip(run.betas, theory, strict=True):
            merged = run.order["merged_pairs"][:, run.chosen(beta=beta)]
            half = np.where((merged >= 0.5).any(0), run.times[(merged >= 0.5).argmax(0)], np.nan)
            label = f"{run.label} beta={beta:g}"
            rows.append(number(label, "merged pairs", merged[-1]))
            rows.append(number(label, "time to half merged", half))
            rows.append(number(label, "time in theory", predicted))
    return rows


first_red = partial(FilmPanel, first=True)  # T draws the first token, which leads the others, in red
ITEMS = {
    "fig3": SimulatedItem(
        figures.fig3, film=(first_red(1, style.BLUE, "random Q, K"), first_red(0, style.BLUE, "Q'K = I"))
    ),
    "fig4": SimulatedItem(figures.fig4, film=(first_red(0, style.BLUE, "β = 9"),)),
    "fig5": SimulatedItem(
        figures.fig5, film=(first_red(0, style.GREY, "V = −I"), first_red(1, style.BLUE, "V = diag(−1, 1)"))
    ),
    "fig6": SimulatedItem(
        figures.fig6, film=(first_red(0, style.GREY, "V = −I"), first_red(1, style.BLUE, "V = diag(−1, ½, ½)"))
    ),
    "phase_diagram": SimulatedItem(figures.phase_diagram, tables=(phase_numbers,)),
}
