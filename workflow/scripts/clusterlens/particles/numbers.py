"""Tables from the runs of a simulated item: the points that its figure shows, and its numbers. No torch."""

import numpy as np
import pandas as pd

from clusterlens.metrics import order
from clusterlens.metrics.numbers import mean, number, spread
from clusterlens.particles.runs import Run

NAMES = {"places": "clusters", "positive_places": "clusters", "first_alignment": "first token to eigenvector"}
COORDINATES = "xyz"


def name_of(measure: str) -> str:
    """A measure's name in tables and claims."""
    return NAMES.get(measure, measure.replace("_", " "))


def settings_numbers(runs: list[Run]) -> list[dict]:
    """The settings that papers print, read from the first run itself."""
    run = runs[0]
    eigenvalues = np.linalg.eigvals(run.value[0].sum(0))
    largest = np.abs(eigenvalues) >= np.abs(eigenvalues).max() - 1e-12
    values = {
        "particles": run.path.shape[1],
        "tokens": run.path.shape[1],
        "dimensions": run.path.shape[2],
        "beta": run.systems[0, 0],
        "tau": run.systems[0, 1],
        "step": run.settings["step"],
        "duration": run.settings["time"],
        "snapshots": len(run.snapshots),
        "leading eigenvalue": eigenvalues[largest].real.min(),
    }
    return [number("settings", column, value) for column, value in values.items()]


def snapshot_numbers(runs: list[Run]) -> list[dict]:
    """Every measure at every snapshot: rows `<label> t=<time>`."""
    return [
        number(f"{run.label} t={t:g}".strip(), name_of(measure), values[run.at(t)])
        for run in runs
        for t in run.snapshots
        for measure, values in run.order.items()
    ]


def final_numbers(runs: list[Run]) -> list[dict]:
    """Every measure at the end: rows `<label> final`."""
    return [
        number(f"{run.label} final".strip(), name_of(measure), values[-1])
        for run in runs
        for measure, values in run.order.items()
    ]


def points(runs: list[Run]) -> pd.DataFrame:
    """What a figure shows, tidy: tokens of the first system at the snapshots, then measures over time with spread."""
    rows: list[tuple] = []
    for run in runs:
        for t in run.snapshots:
            for token, place in enumerate(run.path[run.at(t)]):
                for axis, value in zip(COORDINATES, place[:3], strict=False):
                    rows.append((run.label, t, token, np.nan, axis, value, np.nan))
        for measure, values in run.order.items():
            for beta in run.betas:
                for t, these in zip(run.times, values[:, run.chosen(beta=beta)], strict=True):
                    rows.append((run.label, round(t, 9), np.nan, beta, name_of(measure), mean(these), spread(these)))
    frame = pd.DataFrame(rows, columns=["run", "time", "token", "beta", "quantity", "value", "spread"])
    return frame.astype({"token": "Int64"}).dropna(subset="value")


def fits(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Slope and R² of log mean distance, seed by seed."""
    pairs = [order.fitted_rate(run.times, values) for values in run.order["mean_distance"].T]
    return tuple(np.array(pairs).T)


def rates(run: Run) -> np.ndarray:
    """Fitted rate of approach within the final clusters, seed by seed."""
    return -fits(run)[0]


def leading(run: Run) -> np.ndarray:
    """The eigenvalue of largest real part of the sum of heads, seed by seed (complex)."""
    spectra = np.linalg.eigvals(run.value.sum(1))
    return np.take_along_axis(spectra, spectra.real.argmax(-1)[:, None], -1)[:, 0]
