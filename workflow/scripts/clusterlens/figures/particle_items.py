"""Which figure and which numbers belong to each simulated item."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from clusterlens.figures import emergence_items as emergence
from clusterlens.figures import sphere_items as sphere
from clusterlens.figures.particle_data import Run, name_of, number, settings_rows, snapshot_rows
from clusterlens.particles.theory import boundary

FIGURES: dict[tuple[str, str], Callable] = {
    ("spiking", "fig1"): sphere.spiking_fig1,
    ("spiking", "fig1_sweep"): sphere.spiking_fig1_sweep,
    ("transformers", "fig3"): sphere.transformers_fig3,
    ("transformers", "fig4"): sphere.transformers_fig4,
    ("transformers", "fig5"): sphere.transformers_fig5,
    ("transformers", "fig6"): sphere.transformers_fig6,
    ("transformers", "phase_diagram"): sphere.phase_diagram,
    ("emergence", "boolean_matrix"): emergence.boolean_matrix,
    ("emergence", "polytope"): emergence.polytope,
    ("emergence", "hyperplanes"): emergence.hyperplanes,
    ("emergence", "mixed"): emergence.mixed,
    ("emergence", "circle_start"): emergence.circle_start,
    ("emergence", "convergence_rate"): emergence.convergence_rate,
    ("emergence", "multihead_3d"): emergence.multihead_3d,
    ("emergence", "multihead_eigenvalues"): emergence.multihead_eigenvalues,
    ("emergence", "more_tokens"): emergence.more_tokens,
    ("emergence", "heads_effect"): emergence.effect,
    ("emergence", "start_effect"): emergence.effect,
    ("emergence", "tokens_effect"): emergence.effect,
    ("emergence", "master_equation"): emergence.master_equation,
}


def sweep_numbers(runs: list[Run]) -> list[dict]:
    """Final order parameters for every pair of beta and tau; the first threshold carries no suffix."""
    rows = []
    for run in runs:
        suffix = "" if run is runs[0] else f" {run.label}"
        for beta, tau in np.unique(run.systems[:, :2], axis=0):
            chosen = (run.systems[:, 0] == beta) & (run.systems[:, 1] == tau)
            label = f"beta={beta:g} tau={tau:g}{suffix}"
            rows.append(number(label, "particles", run.path.shape[1]))
            rows += [number(label, name_of(measure), values[-1, chosen]) for measure, values in run.order.items()]
    return rows


def phase_numbers(runs: list[Run]) -> list[dict]:
    """Merged pairs at the end, the time at which half are merged, and the time theory gives."""
    rows = []
    for run in runs:
        betas = np.unique(run.systems[:, 0])
        theory = boundary(betas, n=run.path.shape[1], end=run.times[-1])
        for beta, predicted in zip(betas, theory, strict=True):
            merged = run.order["merged_pairs"][:, run.systems[:, 0] == beta]
            half = np.where((merged >= 0.5).any(0), run.times[(merged >= 0.5).argmax(0)], np.nan)
            label = f"{run.label} beta={beta:g}"
            rows.append(number(label, "merged pairs", merged[-1]))
            rows.append(number(label, "time to half merged", half))
            rows.append(number(label, "time in theory", predicted))
    return rows


def final_numbers(runs: list[Run]) -> list[dict]:
    """Every measure at the end."""
    return [
        number(f"{run.label} final".strip(), name_of(measure), values[-1])
        for run in runs
        for measure, values in run.order.items()
    ]


def rate_numbers(runs: list[Run]) -> list[dict]:
    """The fitted slope of log mean distance and how straight the line is."""
    slopes, fit = emergence.fits(runs[0])
    growth = emergence.leading(runs[0]).real
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
    total, clusters = emergence.leading(run), run.order["places"][-1]
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
    rates = [emergence.rates(run) for run in runs]
    rows = []
    for run, values in zip(runs, rates, strict=True):
        rows.append(number(run.label, "clusters", run.order["places"][-1]))
        rows.append(number(run.label, "mean cosine", run.order["mean_cosine"][-1]))
        rows.append(number(run.label, "rate", values))
    means, spreads = np.array([np.nanmean(v) for v in rates]), np.array([np.nanstd(v, ddof=1) for v in rates])
    rows.append(number("largest change", "over seed spread", (means.max() - means.min()) / spreads.mean()))
    return rows


def start_numbers(runs: list[Run]) -> list[dict]:
    """The effect of the start, and how far the final mean token depends on it, in units of the cloud's size."""
    size = [np.sqrt((run.final**2).sum(-1).mean(-1))[:, None] for run in runs]
    centres = np.stack([run.final.mean(1) / width for run, width in zip(runs, size, strict=True)])  # (starts, S, d)
    spread = np.sqrt(((centres - centres.mean(0)) ** 2).sum(-1).mean(0))
    return [*effect_numbers(runs), number("cluster positions", "spread over starts", spread)]


NUMBERS: dict[str, Callable[[list[Run]], list[dict]]] = {
    "fig1_sweep": sweep_numbers,
    "phase_diagram": phase_numbers,
    "hyperplanes": final_numbers,
    "mixed": final_numbers,
    "convergence_rate": rate_numbers,
    "multihead_eigenvalues": spectrum_numbers,
    "heads_effect": effect_numbers,
    "tokens_effect": effect_numbers,
    "start_effect": start_numbers,
}


def numbers(item: str, runs: list[Run]) -> pd.DataFrame:
    """The numbers by which an item's claims are judged: its settings, its snapshots, and what is its own."""
    rows = settings_rows(runs[0])
    if item in NUMBERS:
        rows += NUMBERS[item](runs)
    if item not in ("fig1_sweep", "phase_diagram"):
        rows += [row for run in runs for row in snapshot_rows(run)]
    return pd.DataFrame(rows)
