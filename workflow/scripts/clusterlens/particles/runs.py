"""One simulation as later steps see it, and the file that holds the simulations of an item. No torch."""

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterlens.data.formats import write_arrays

PARTS = ("times", "path", "final", "value", "attention")


@dataclass(frozen=True)
class Run:
    """One simulation: `path` is that of the first system, `order` holds every measure of every system.

    The label is the variant's name, then `<key>=<value>` of the setting that is swept; either may be missing.
    """

    label: str
    settings: dict
    times: np.ndarray  # (T,)
    path: np.ndarray  # (T, n, d)
    final: Any  # (S, n, d), or None where that would be too much to keep
    value: Any  # (S, H, d, d), or 1 for S where all systems share it; None where V is too large to keep
    attention: Any  # (K, n, n) at the snapshots, or None where no measure needs it
    order: dict[str, np.ndarray]  # measure -> (T, S)

    @property
    def swept(self) -> tuple[str, str]:
        """Key and value of the setting that is swept."""
        key, _, value = self.label.rpartition(" ")[2].partition("=")
        return key, value

    @property
    def snapshots(self) -> list[float]:
        return self.settings["snapshots"]

    @property
    def systems(self) -> np.ndarray:
        """beta, steepness and seed of every system, (S, 3)."""
        return np.array(self.settings["systems"])

    @property
    def values(self) -> np.ndarray:
        """V of every system, (S, H, d, d)."""
        return np.broadcast_to(self.value, (len(self.systems), *self.value.shape[1:]))

    @property
    def betas(self) -> np.ndarray:
        return np.unique(self.systems[:, 0])

    @property
    def on_sphere(self) -> bool:
        return not self.settings["field"].startswith(("free", "rescaled", "principal"))

    def chosen(self, *, beta: float, steepness: float | None = None) -> np.ndarray:
        """Which systems have this beta and, if given, this steepness: (S,)."""
        same = self.systems[:, 0] == beta
        return same if steepness is None else same & (self.systems[:, 1] == steepness)

    def by_seed(self, values: np.ndarray, chosen: np.ndarray | None = None) -> dict[int, float]:
        """Values of all systems, or of the chosen ones, by the name of their seed; each seed once."""
        which = np.arange(len(self.systems)) if chosen is None else np.flatnonzero(chosen)
        seeds = self.systems[which, 2].astype(int).tolist()
        if len(set(seeds)) < len(seeds):
            raise ValueError("several systems share a seed: choose those of one beta and one steepness")
        return dict(zip(seeds, np.asarray(values, dtype=float)[which].tolist(), strict=True))

    def at(self, t: float) -> int:
        """Index of the kept time nearest to t."""
        return int(np.abs(self.times - t).argmin())


def save(path: str | os.PathLike, runs: list[Run]) -> None:
    """An npz with the arrays `<part or measure> <index of the run>`, and labels and settings in `runs` as JSON."""
    about = [{"label": run.label, "settings": run.settings, "measures": list(run.order)} for run in runs]
    arrays = {"runs": np.array(json.dumps(about))}
    for index, run in enumerate(runs):
        parts = {part: getattr(run, part) for part in PARTS} | run.order
        arrays |= {f"{part} {index}": array for part, array in parts.items() if array is not None}
    write_arrays(path, arrays)


def load(path: str | os.PathLike) -> list[Run]:
    with np.load(path) as stored:
        return [
            Run(
                about["label"],
                about["settings"],
                **{part: stored.get(f"{part} {index}") for part in PARTS},
                order={measure: stored[f"{measure} {index}"] for measure in about["measures"]},
            )
            for index, about in enumerate(json.loads(str(stored["runs"])))
        ]
