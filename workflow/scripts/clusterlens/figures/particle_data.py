"""What a particle simulation left on disk, run by run, and the tables made from it."""

import json
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd

NAMES = {"places": "clusters", "positive_places": "clusters", "first_alignment": "first token to eigenvector"}
COORDINATES = "xyz"


@dataclass(frozen=True)
class Run:
    """One simulation: `path` is that of the first system, `order` holds every measure of every system."""

    label: str
    settings: dict
    times: np.ndarray  # (T,)
    path: np.ndarray  # (T, n, d)
    final: np.ndarray | None  # (S, n, d)
    value: np.ndarray  # (S, H, d, d), or 1 for S where all systems share it
    attention: np.ndarray | None  # (K, n, n) at the snapshots
    order: dict[str, np.ndarray]  # measure -> (T, S)

    @property
    def snapshots(self) -> list[float]:
        return self.settings["snapshots"]

    @property
    def systems(self) -> np.ndarray:
        """beta, steepness and seed of every system, (S, 3)."""
        return np.array(self.settings["systems"])

    def at(self, t: float) -> int:
        """Index of the kept time nearest to t."""
        return int(np.abs(self.times - t).argmin())


def load(file: str | os.PathLike) -> list[Run]:
    """The runs of one item."""
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    runs = []
    for index, settings in enumerate(json.loads(str(arrays["runs"]))):
        own = {
            name.removesuffix(str(index)): arrays[name]
            for name in arrays
            if name.rstrip("0123456789") + str(index) == name
        }
        parts = {name: own.pop(name, None) for name in ("times", "path", "final", "value", "attention")}
        runs.append(Run(settings.pop("label"), settings, **parts, order=own))
    return runs


def name_of(measure: str) -> str:
    """A measure's name in tables and claims."""
    return NAMES.get(measure, measure.replace("_", " "))


def mean_spread(values: np.ndarray) -> tuple[float, float, int]:
    """Mean, standard deviation and number of the finite values: systems without the quantity (no clusters) drop out."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.nan, np.nan, 0
    return float(finite.mean()), float(finite.std(ddof=1)) if len(finite) > 1 else 0.0, len(finite)


def band(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread over systems for every time: (T, S) -> (T,), (T,)."""
    mean, spread, _ = zip(*map(mean_spread, values), strict=True)
    return np.array(mean), np.array(spread)


def number(row: str, column: str, values: np.ndarray | float) -> dict:
    """One row of an item's numbers: a value over seeds, or a single setting."""
    mean, spread, seeds = mean_spread(np.atleast_1d(np.asarray(values, dtype=float)))
    return {"row": row, "column": column, "value": mean, "spread": spread, "seeds": seeds}


def settings_rows(run: Run) -> list[dict]:
    """The settings that papers print, read from the run itself."""
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


def snapshot_rows(run: Run) -> list[dict]:
    """Every measure at every snapshot."""
    return [
        number(f"{run.label} t={t:g}".strip(), name_of(measure), values[run.at(t)])
        for t in run.snapshots
        for measure, values in run.order.items()
    ]


def points(runs: list[Run]) -> pd.DataFrame:
    """What a figure shows, tidy: tokens of the first system at the snapshots, then measures over time with spread."""
    rows = []
    for run in runs:
        for t in run.snapshots:
            for token, place in enumerate(run.path[run.at(t)]):
                for axis, value in zip(COORDINATES, place[:3], strict=False):
                    rows.append((run.label, t, token, np.nan, axis, value, np.nan))
        for measure, values in run.order.items():
            for beta in np.unique(run.systems[:, 0]):
                mean, spread = band(values[:, run.systems[:, 0] == beta])
                for t, value, width in zip(run.times, mean, spread, strict=True):
                    rows.append((run.label, round(t, 9), np.nan, beta, name_of(measure), value, width))
    frame = pd.DataFrame(rows, columns=["run", "time", "token", "beta", "quantity", "value", "spread"])
    return frame.astype({"token": "Int64"}).dropna(subset="value")
