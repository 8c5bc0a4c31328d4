"""The simulated items of E."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from clusterlens.figures import emergence_heads as heads
from clusterlens.figures import emergence_particles as figures
from clusterlens.figures import style, value_flows
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.metrics.numbers import number, share
from clusterlens.particles.numbers import clustered, final_numbers, fits, leading, outcome_numbers, snapshot_numbers
from clusterlens.particles.runs import Run
from clusterlens.simulated.item import SimulatedItem


def rate_numbers(runs: list[Run]) -> list[dict]:
    """Which systems cluster, how fast their nearest neighbours approach, and how straight the logarithm is."""
    (run,) = runs
    rate, fit = fits(run)
    growth = leading(run).real
    groups = {"fit": np.full(len(growth), True), "growing sum of heads": growth > 0, "other sums of heads": growth <= 0}
    rows = []
    for name, chosen in members(groups):
        rows.append(share(name, "clusters at all", run.by_seed(clustered(run), chosen)))
        rows.append(number(name, "rate", run.by_seed(rate, chosen)))
        rows.append(number(name, "r squared", run.by_seed(fit, chosen)))
        rows.append(number(name, "leading real part", run.by_seed(growth, chosen)))
    return rows


def spectrum_numbers(runs: list[Run]) -> list[dict]:
    """Leading eigenvalues, and what follows where the leading one grows, grows and is real, or does not grow."""
    (run,) = runs
    total = leading(run)
    single = np.linalg.eigvals(run.values).real.max((-1, -2))
    growing = total.real > 0
    groups = {"growing": growing, "growing and real": growing & (total.imag == 0), "not growing": ~growing}
    rows = [
        share("sum of heads", "grows", run.by_seed(growing)),
        number("sum of heads", "leading real part", run.by_seed(total.real)),
        number("sum of heads", "leading imaginary part", run.by_seed(np.abs(total.imag))),
        number("single heads", "leading real part", run.by_seed(single)),
    ]
    for name, chosen in members(groups):
        rows.append(share(name, "clusters at all", run.by_seed(clustered(run), chosen)))
        rows.append(number(name, "clusters", run.by_seed(run.order["places"][-1], chosen)))
    return rows


def members(groups: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """The groups of systems that are not empty."""
    return ((name, chosen) for name, chosen in groups.items() if chosen.any())


def effect_numbers(runs: list[Run]) -> list[dict]:
    """What comes out by setting, and the change from the first setting, paired by seed."""
    rows, found = [], []
    for run in runs:
        quantities = {
            "clusters": run.order["places"][-1],
            "mean cosine": run.order["mean_cosine"][-1],
            "merged pairs": run.order["merged_places"][-1],
            "nearest distance": run.order["nearest_distance"][-1],
            "rate": fits(run)[0],
        }
        found.append({name: run.by_seed(values) for name, values in quantities.items()})
        happened = run.by_seed(clustered(run))
        rows += [number(run.label, name, values) for name, values in found[-1].items()]
        rows.append(share(run.label, "clusters at all", happened))
        found[-1]["clusters at all"] = happened
    first = runs[0].label
    for run, quantities in zip(runs[1:], found[1:], strict=True):
        for name, values in quantities.items():
            change = {seed: value - found[0][name][seed] for seed, value in values.items()}
            rows.append(number(f"{run.label} minus {first}", name, change))
    return rows


def start_numbers(runs: list[Run]) -> list[dict]:
    """How far the final mean token depends on the start, in units of the cloud's size, where all starts cluster."""
    size = [np.sqrt((run.final**2).sum(-1).mean(-1))[:, None] for run in runs]
    centres = np.stack([run.final.mean(1) / width for run, width in zip(runs, size, strict=True)])  # (starts, S, d)
    apart = np.sqrt(((centres - centres.mean(0)) ** 2).sum(-1).mean(0))
    together = np.all([clustered(run) for run in runs], axis=0)
    return [number("cluster positions", "apart over starts", runs[0].by_seed(apart, together))]


def head_numbers(runs: list[Run]) -> list[dict]:
    """Which head, counted from 1, how many there are in the flow, and whether and how fast it clusters."""
    trained = runs[0]
    rows = [number("settings", "heads", trained.settings["heads"])]
    if trained.settings["head"]:
        rows.append(number("settings", "head", trained.settings["head"]))
    for run in runs:
        rate, fit = fits(run)
        name = "final" if run is trained else f"{run.label} final"
        rows.append(share(name, "clusters at all", run.by_seed(clustered(run))))
        rows.append(number(name, "rate", run.by_seed(rate)))
        rows.append(number(name, "r squared", run.by_seed(fit)))
    return rows


def head_snapshots(runs: list[Run]) -> list[dict]:
    """Rows `t=<time>` for the trained heads, `random t=<time>` for the control."""
    return snapshot_numbers([replace(runs[0], label=""), *runs[1:]])


EFFECT = SimulatedItem(heads.effect, tables=(effect_numbers, snapshot_numbers))
TRAINED_HEADS = SimulatedItem(
    value_flows.head_flow, tables=(head_numbers, head_snapshots), film=(FilmPanel(0, style.BLUE),)
)
ITEMS = {
    "boolean_matrix": SimulatedItem(figures.boolean_matrix),
    "polytope": SimulatedItem(figures.polytope, film=(FilmPanel(0, figures.ORANGE, hull=True),)),
    "hyperplanes": SimulatedItem(
        figures.hyperplanes,
        tables=(final_numbers, snapshot_numbers),
        film=(FilmPanel(0, figures.VIOLET, "d = 2"), FilmPanel(1, figures.VIOLET, "d = 3")),
    ),
    "mixed": SimulatedItem(
        figures.mixed, tables=(final_numbers, snapshot_numbers), film=(FilmPanel(0, figures.TEAL, equal=False),)
    ),
    "circle_start": SimulatedItem(
        partial(heads.planar_flow, colour=style.GREEN),
        tables=(outcome_numbers, snapshot_numbers),
        film=(FilmPanel(0, style.GREEN),),
    ),
    "convergence_rate": SimulatedItem(heads.convergence_rate, tables=(rate_numbers, snapshot_numbers)),
    "multihead_3d": SimulatedItem(
        heads.multihead_3d, tables=(outcome_numbers, snapshot_numbers), film=(FilmPanel(0, style.GREEN),)
    ),
    "multihead_eigenvalues": SimulatedItem(heads.multihead_eigenvalues, tables=(spectrum_numbers, snapshot_numbers)),
    "more_tokens": SimulatedItem(
        heads.more_tokens,
        tables=(outcome_numbers, spectrum_numbers, snapshot_numbers),
        film=(FilmPanel(0, style.PURPLE),),
    ),
    "albert_head_flow": TRAINED_HEADS,
    "albert_multihead_flow": TRAINED_HEADS,
    "albert_more_tokens": TRAINED_HEADS,
    "albert_circle_start": TRAINED_HEADS,
    "heads_effect": EFFECT,
    "start_effect": SimulatedItem(heads.effect, tables=(effect_numbers, start_numbers, snapshot_numbers)),
    "tokens_effect": EFFECT,
    "master_equation": SimulatedItem(heads.master_equation),
}
