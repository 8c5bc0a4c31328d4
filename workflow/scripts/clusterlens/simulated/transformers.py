"""The simulated items of T."""

from functools import partial

import numpy as np

from clusterlens.figures import style
from clusterlens.figures import transformers_particles as figures
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.metrics.numbers import number, share
from clusterlens.metrics.order import received
from clusterlens.particles.numbers import snapshot_numbers
from clusterlens.particles.runs import Run
from clusterlens.particles.theory import boundary, even_spacing, random_spacing, uniform_causal
from clusterlens.simulated.item import SimulatedItem


def times_shown(runs: list[Run]) -> list[dict]:
    """The times of the panels, some of which the paper prints."""
    return [number(f"snapshot t={t:g}", "time", t) for t in runs[0].snapshots]


def one_cluster_numbers(runs: list[Run]) -> list[dict]:
    """The share of seeds whose tokens are in one cluster."""
    return [
        share(f"{run.label} t={t:g}", "in one cluster", run.by_seed(run.order["clusters"][run.at(t)] == 1))
        for run in runs
        for t in run.snapshots
    ]


def spacing_numbers(runs: list[Run]) -> list[dict]:
    """The angle to the nearest neighbour for tokens on the circle that are spaced evenly, and placed at random."""
    n = runs[0].path.shape[1]
    return [
        number("even spacing", "nearest neighbour", even_spacing(n)),
        number("random places", "nearest neighbour", random_spacing(n)),
    ]


def sink_numbers(runs: list[Run]) -> list[dict]:
    """Attention received by the first and the median token, in the simulations and under uniform causal attention."""
    rows = []
    for run in runs:
        first, median = run.order["received_first"], run.order["received_median"]
        for t in run.snapshots:
            label, now = f"{run.label} t={t:g}", run.at(t)
            rows.append(number(label, "first over median", run.by_seed(first[now] / median[now])))
    uniform = received(uniform_causal(runs[0].path.shape[1]))
    first, median = uniform[0], np.median(uniform)
    columns = {"received first": first, "received median": median, "first over median": first / median}
    every_seed = np.ones(len(runs[0].systems))  # the same for each, so that differences from it are paired
    return [*rows, *(number("uniform", name, runs[0].by_seed(value * every_seed)) for name, value in columns.items())]


def phase_numbers(runs: list[Run]) -> list[dict]:
    """Merged pairs at the end, the time at which half are merged, and the time theory gives."""
    rows = []
    for run in runs:
        theory = boundary(run.betas, n=run.path.shape[1], end=run.times[-1])
        merged = run.order["merged_pairs"]
        half = np.where((merged >= 0.5).any(0), run.times[(merged >= 0.5).argmax(0)], np.nan)
        for beta, predicted in zip(run.betas, theory, strict=True):
            chosen = run.chosen(beta=beta)
            label = f"{run.label} beta={beta:g}"
            rows.append(number(label, "merged pairs", run.by_seed(merged[-1], chosen)))
            rows.append(share(label, "half merged", run.by_seed(np.isfinite(half), chosen)))
            rows.append(number(label, "time to half merged", run.by_seed(half, chosen)))
            rows.append(number(label, "time in theory", predicted))
    return rows


def first_token_numbers(runs: list[Run]) -> list[dict]:
    """How many eigenvalues V has, the first token's path, and the time from which the clusters stay as they are."""
    (run,) = runs
    rows = [number("settings", "eigenvalues", run.value.shape[-1])]
    columns = {"clusters": "clusters", "first_to_others": "first token to others"}
    columns["first_alignment"] = "first token to eigenvector"
    for t in run.snapshots:
        for measure, column in columns.items():
            rows.append(number(f"t={t:g}", column, run.by_seed(run.order[measure][run.at(t)])))
    return [*rows, number("settled", "time", run.by_seed(settled(run)))]


def settled(run: Run) -> np.ndarray:
    """The time from which on the number of clusters stays within one of the last, for each seed."""
    off = np.abs(run.order["clusters"] - run.order["clusters"][-1]) > 1  # (T, S)
    last = np.where(off.any(0), len(off) - 1 - off[::-1].argmax(0), -1)
    return run.times[last + 1]


def received_numbers(runs: list[Run]) -> list[dict]:
    """Attention that the first and the median token receive at the end."""
    (run,) = runs
    return [
        number(f"{name} token", "attention received", run.by_seed(run.order[f"received_by_{name}"][-1]))
        for name in ("first", "median")
    ]


first_red = partial(FilmPanel, first=True)  # T draws the first token, which leads the others, in red
ITEMS = {
    "fig3": SimulatedItem(
        figures.fig3,
        tables=(times_shown, one_cluster_numbers, snapshot_numbers),
        film=(first_red(1, style.BLUE, "random Q, K"), first_red(0, style.BLUE, "Q'K = I")),
    ),
    "fig4": SimulatedItem(
        figures.fig4, tables=(times_shown, snapshot_numbers), film=(first_red(0, style.BLUE, "β = 9"),)
    ),
    "fig5": SimulatedItem(
        figures.fig5,
        tables=(times_shown, spacing_numbers, snapshot_numbers),
        film=(first_red(0, style.GREY, "V = −I"), first_red(1, style.BLUE, "V = diag(−1, 1)")),
    ),
    "fig6": SimulatedItem(
        figures.fig6,
        tables=(times_shown, snapshot_numbers),
        film=(first_red(0, style.GREY, "V = −I"), first_red(1, style.BLUE, "V = diag(−1, ½, ½)")),
    ),
    "fig7": SimulatedItem(
        figures.head_particles, tables=(first_token_numbers,), film=(first_red(0, style.BLUE, "V of a head"),)
    ),
    "fig8": SimulatedItem(
        partial(figures.head_particles, sink=True),
        tables=(first_token_numbers, received_numbers),
        film=(first_red(0, style.BLUE, "V of a head"),),
    ),
    "eigenvalue_sweep": SimulatedItem(figures.eigenvalue_sweep),
    "sinks": SimulatedItem(figures.sinks, tables=(sink_numbers, snapshot_numbers)),
    "phase_diagram": SimulatedItem(figures.phase_diagram, tables=(phase_numbers,)),
}
