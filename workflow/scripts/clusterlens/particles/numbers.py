"""Tables from the runs of a simulated item: the points that its figure shows, and its numbers. No torch."""

import numpy as np
import pandas as pd

from clusterlens.metrics import order
from clusterlens.metrics.numbers import number, share
from clusterlens.metrics.statistics import mean_interval
from clusterlens.particles.runs import Run

NAMES = {
    "places": "clusters",
    "positive_places": "clusters",
    "merged_places": "merged pairs",
    "first_alignment": "first token to eigenvector",
}
CLUSTERED = (
    0.1  # a system clusters where at least this share of its pairs has merged by the end, as in ten equal clusters
)
COORDINATES = "xyz"


def name_of(measure: str) -> str:
    """A measure's name in tables and claims."""
    return NAMES.get(measure, measure.replace("_", " "))


def settings_numbers(runs: list[Run]) -> list[dict]:
    """The settings that papers print, read from the first run itself."""
    run = runs[0]
    values = {
        "particles": run.path.shape[1],
        "tokens": run.path.shape[1],
        "dimensions": run.settings["dimension"],
        "beta": run.systems[0, 0],
        "tau": run.systems[0, 1],
        "step": run.settings["step"],
        "duration": run.settings["time"],
        "snapshots": len(run.snapshots),
    }
    if run.value is not None:
        eigenvalues = np.linalg.eigvals(run.value[0].sum(0))
        largest = np.abs(eigenvalues) >= np.abs(eigenvalues).max() - 1e-12
        values["leading eigenvalue"] = eigenvalues[largest].real.min()
    return [number("settings", column, value) for column, value in values.items()]


def snapshot_numbers(runs: list[Run]) -> list[dict]:
    """Every measure at every snapshot: rows `<label> t=<time>`."""
    return [
        number(f"{run.label} t={t:g}".strip(), name_of(measure), run.by_seed(values[run.at(t)]))
        for run in runs
        for t in run.snapshots
        for measure, values in run.order.items()
    ]


def final_numbers(runs: list[Run]) -> list[dict]:
    """Every measure at the end: rows `<label> final`."""
    return [
        number(f"{run.label} final".strip(), name_of(measure), run.by_seed(values[-1]))
        for run in runs
        for measure, values in run.order.items()
    ]


def points(runs: list[Run]) -> pd.DataFrame:
    """What a figure shows, tidy: tokens of the first system at the snapshots, then measures over time with interval."""
    rows: list[tuple] = []
    for run in runs:
        for t in run.snapshots:
            for token, place in enumerate(run.path[run.at(t)]):
                for axis, value in zip(COORDINATES, place[:3], strict=False):
                    rows.append((run.label, t, token, np.nan, np.nan, axis, value, np.nan))
        for measure, values in run.order.items():
            for beta, tau in np.unique(run.systems[:, :2], axis=0):
                chosen = run.chosen(beta=beta, steepness=tau)
                for t, these in zip(run.times, values[:, chosen], strict=True):
                    found = mean_interval(these)
                    rows.append(
                        (run.label, round(t, 9), np.nan, beta, tau, name_of(measure), found.value, found.interval)
                    )
    frame = pd.DataFrame(rows, columns=["run", "time", "token", "beta", "tau", "quantity", "value", "interval"])
    return frame.astype({"token": "Int64"}).dropna(subset="value")


def clustered(run: Run) -> np.ndarray:
    """Which systems cluster at all, judged by the end alone, (S,)."""
    return run.order["merged_places"][-1] >= CLUSTERED


def outcome_numbers(runs: list[Run]) -> list[dict]:
    """The share of systems that cluster at all: rows `<label> final`."""
    return [share(f"{run.label} final".strip(), "clusters at all", run.by_seed(clustered(run))) for run in runs]


def fits(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Rate at which nearest neighbours approach and R² of its fit, seed by seed; NaN where nothing clusters."""
    pairs = np.array([order.fitted_rate(run.times, values) for values in run.order["nearest_distance"].T])
    pairs[~clustered(run)] = np.nan
    return pairs[:, 0], pairs[:, 1]


def leading(run: Run) -> np.ndarray:
    """The eigenvalue of largest real part of the sum of heads, seed by seed (complex)."""
    spectra = np.linalg.eigvals(run.values.sum(1))
    return np.take_along_axis(spectra, spectra.real.argmax(-1)[:, None], -1)[:, 0]
