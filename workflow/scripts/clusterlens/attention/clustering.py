"""What attention made of a cloud of tokens, in memory and on disk; the keys of the archive are known here only."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlens.attention.cases import Case
from clusterlens.data.formats import write_arrays, write_csv
from clusterlens.metrics.numbers import number
from clusterlens.metrics.spectrum import covariance_spectrum

LEADING = 5  # eigenvalues that are kept
PANEL_MEASURES = ("silhouette", "dice", "accuracy", "coverage", "clusters", "fragments")

Sample = tuple[str, int]  # the name of a case, and the seed of a sample
Eigenvalue = tuple[int, str, int, float]
Spectra = dict[Sample, list[Eigenvalue]]


@dataclass(frozen=True)
class Settled:
    """The tokens under one pattern: every state (T + 1, n, d), the clusters of the last one (n) and their measures."""

    history: np.ndarray
    labels: np.ndarray
    measures: dict[str, float]


@dataclass(frozen=True)
class Clustering:
    """One data set under several patterns, each by the name of its case.

    Archive: `start` (n, d), for each pattern `tokens <case>` (n, d) and `labels <case>` (n), and under their own names
    the arrays in `known`, such as `features`, `global_tokens`, `image` and `mask`.
    """

    start: np.ndarray
    final: dict[str, np.ndarray]
    labels: dict[str, np.ndarray]
    known: dict[str, np.ndarray]
    measures: pd.DataFrame  # pattern, seed, measure, value
    spectra: pd.DataFrame  # pattern, seed, iteration, covariance, rank, eigenvalue

    @classmethod
    def of(
        cls, start: np.ndarray, settled: dict[str, Settled], measured: dict[Sample, dict], spectra: Spectra, **known
    ) -> "Clustering":
        """From the first sample under each pattern, and the measures and spectra of all samples."""
        rows = [(*key, measure, value) for key, found in measured.items() for measure, value in found.items()]
        eigenvalues = [(*key, *row) for key, found in spectra.items() for row in found]
        return cls(
            start.astype(np.float32),
            {name: one.history[-1].astype(np.float32) for name, one in settled.items()},
            {name: one.labels.astype(np.int16) for name, one in settled.items()},
            {name: np.asarray(value) for name, value in known.items() if value is not None},
            pd.DataFrame(rows, columns=["pattern", "seed", "measure", "value"]),
            pd.DataFrame(eigenvalues, columns=["pattern", "seed", "iteration", "covariance", "rank", "eigenvalue"]),
        )

    def save(self, tokens: str, measures: str, spectra: str) -> None:
        final = {f"tokens {name}": array for name, array in self.final.items()}
        labels = {f"labels {name}": array for name, array in self.labels.items()}
        write_arrays(tokens, {"start": self.start, **self.known, **final, **labels})
        write_csv(measures, self.measures)
        write_csv(spectra, self.spectra)

    @classmethod
    def load(cls, tokens: str, measures: str, spectra: str, *_) -> "Clustering":
        """From the files that `save` wrote; what is listed after them, such as a manifest, is not read."""
        with np.load(tokens, allow_pickle=False) as archive:
            stored = dict(archive)
        final, labels = (
            {key.removeprefix(kind): stored.pop(key) for key in list(stored) if key.startswith(kind)}
            for kind in ("tokens ", "labels ")
        )
        return cls(stored.pop("start"), final, labels, stored, pd.read_csv(measures), pd.read_csv(spectra))

    def cases(self, pattern: str) -> list[Case]:
        """The study's cases of one pattern."""
        return [case for case in map(Case.read, self.final) if case.pattern == pattern]

    def shown(self, case: Case) -> dict[str, float]:
        """The measures of a case on the sample that figures show, the first."""
        rows = self.measures[self.measures["pattern"] == case.name]
        first = rows[rows["seed"] == self.measures["seed"].iloc[0]]
        return dict(zip(first["measure"], first["value"], strict=True))

    def numbers(self, data: str, chosen: list[Case], measures: tuple[str, ...] = PANEL_MEASURES) -> list[dict]:
        """What panels show of these cases, in rows `<data> <case>`."""
        rows = ((f"{data} {case.name}", self.shown(case)) for case in chosen)
        return [number(row, measure, found[measure]) for row, found in rows for measure in measures if measure in found]

    def spectrum(self, case: Case) -> pd.DataFrame:
        """The eigenvalues of a case on every sample."""
        return self.spectra[self.spectra["pattern"] == case.name]


def spectrum_rows(history: np.ndarray) -> list[Eigenvalue]:
    """(iteration, covariance, rank from 1, eigenvalue) of every state, with the covariance centred and not."""
    rows = []
    for kind, centred in (("centred", True), ("uncentred", False)):
        values = covariance_spectrum(history, centred=centred)[:, :LEADING]
        rows += [(t, kind, rank, float(v)) for t, line in enumerate(values) for rank, v in enumerate(line, 1)]
    return rows
