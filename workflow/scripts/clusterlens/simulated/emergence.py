"""The simulated items of E."""

from functools import partial

import numpy as np

from clusterlens.figures import emergence_particles as figures
from clusterlens.figures import style
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.metrics.numbers import mean, number, spread
from clusterlens.particles.numbers import final_numbers, fits, leading, rates, snapshot_numbers
from clusterlens.particles.runs import Run
from clusterlens.simulated.item import SimulatedItem


def rate_numbers(runs: list[Run]) -> list[dict]:
    """The fitted slope of log mean distance and how straight the line is."""
    slopes, fit = fits(runs[0])
    growth = leading(runs[0]).real
    growing = growth > 0
    return [
        number("fit", "slope", slopes),
        number("fit", "r squared", fit),
        number("growing sum of heads", "slope", slopes[growing]),
        number("growing sum of heads", "r squared", fit[growing]),
        number("growing sum of heads", "leading real part", growth[growing]),
    ]


def spectrum_numbers(runs: list[Run]) -> list[dict]:
    """Leading eigenvalues, and the clusters that follow where the leading one is real, complex or has no growth."""
    (run,) = runs
    total, clusters = leading(run), run.order["places"][-1]
    single = np.linalg.eigvals(run.value).real.max((-1, -2))
    growing = total.real > 0
    groups = {"growing": growing, "growing and real": growing & (total.imag == 0), "not growing": ~growing}
    return [
        number("sum of heads", "leading real part", total.real),
        number("sum of heads", "leading imaginary part", np.abs(total.imag)),
        number("single heads", "leading real part", single),
        *(number(name, "clusters", clusters[chosen]) for name, chosen in groups.items()),
    ]


def effect_numbers(runs: list[Run]) -> list[dict]:
    """Order parameters by setting, and the largest change of the rate between settings in units of its spread."""
    fitted = [rates(run) for run in runs]
    rows = []
    for run, values in zip(runs, fitted, strict=True):
        rows.append(number(run.label, "clusters", run.order["places"][-1]))
        rows.append(number(run.label, "mean cosine", run.order["mean_cosine"][-1]))
        rows.append(number(run.label, "rate", values))
    change = np.ptp([*map(mean, fitted)]) / np.mean([*map(spread, fitted)])
    return [*rows, number("largest change", "over seed spread", change)]


def start_numbers(runs: list[Run]) -> list[dict]:
    """How far the final mean token depends on the start, in units of the cloud's size."""
    size = [np.sqrt((run.final**2).sum(-1).mean(-1))[:, None] for run in runs]
    centres = np.stack([run.final.mean(1) / width for run, width in zip(runs, size, strict=True)])  # (starts, S, d)
    between = np.sqrt(((centres - centres.mean(0)) ** 2).sum(-1).mean(0))
    return [number("cluster positions", "spread over starts", between)]


EFFECT = SimulatedItem(figures.effect, tables=(effect_numbers, snapshot_numbers))
ITEMS = {
    "boolean_matrix": SimulatedItem(figures.boolean_matrix),
    "polytope": SimulatedItem(figures.polytope, film=(FilmPanel(0, figures.ORANGE),)),
    "hyperplanes": SimulatedItem(
        figures.hyperplanes,
        tables=(final_numbers, snapshot_numbers),
        film=(FilmPanel(0, figures.VIOLET, "d = 2"), FilmPanel(1, figures.VIOLET, "d = 3")),
    ),
    "mixed": SimulatedItem(figures.mixed, tables=(final_numbers, snapshot_numbers), film=(FilmPanel(0, figures.TEAL),)),
    "circle_start": SimulatedItem(partial(figures.planar_flow, colour=style.GREEN), film=(FilmPanel(0, style.GREEN),)),
    "convergence_rate": SimulatedItem(figures.convergence_rate, tables=(rate_numbers, snapshot_numbers)),
    "multihead_3d": SimulatedItem(figures.multihead_3d, film=(FilmPanel(0, style.GREEN),)),
    "multihead_eigenvalues": SimulatedItem(figures.multihead_eigenvalues, tables=(spectrum_numbers, snapshot_numbers)),
    "more_tokens": SimulatedItem(partial(figures.planar_flow, colour=style.PURPLE), film=(FilmPanel(0, style.PURPLE),)),
    "heads_effect": EFFECT,
    "start_effect": SimulatedItem(figures.effect, tables=(effect_numbers, start_numbers, snapshot_numbers)),
    "tokens_effect": EFFECT,
    "master_equation": SimulatedItem(figures.master_equation),
}
