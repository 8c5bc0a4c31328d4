"""A's simulation study on one cloud of tokens: every pattern, its clusters and its spectra (A §3)."""

from dataclasses import dataclass

import numpy as np
import torch

from clusterlens.attention.iteration import by_pattern, iterate
from clusterlens.attention.scaling import MODES
from clusterlens.metrics.agreement import dice, majority_accuracy, subject_mask, two_cluster_accuracy
from clusterlens.metrics.clusters import clusters, dbscan, silhouette
from clusterlens.metrics.fragmentation import clusters_holding, rand_index, share_away
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank


@dataclass(frozen=True)
class Case:
    """One pattern of the study, under the name that tables and figures give it."""

    name: str
    pattern: str
    parameters: dict
    window: int | None = None


@dataclass(frozen=True)
class Truth:
    """What the clusters are held against: a mask of the picture, or labels with the direction of each feature."""

    mask: np.ndarray | None = None
    labels: np.ndarray | None = None
    signs: np.ndarray | None = None


def fitted_windows(windows: list[int], n: int) -> dict[int, int]:
    """The window used for each nominal one: the same where the largest fits the tokens, else all shrunk by one factor.

    Deviation: a small table has fewer tokens than A's window of 512; the largest then becomes half of the tokens, as
    512 is of 1,024, and every window stays even.
    """
    largest = max(windows)
    if largest <= n:
        return {window: window for window in windows}
    return {window: max(2, 2 * round(window / largest * n / 4)) for window in windows}


def cases(windows: list[int], n: int, global_tokens: list[int], *, modes: bool) -> list[Case]:
    """Global attention, local windows, and Longformer's pattern with the largest window, under one or all modes."""
    used = fitted_windows(windows, n)
    largest = max(windows)
    wide = {"window": used[largest], "global_tokens": list(global_tokens)}
    scalings = MODES if modes else ("sdp",)
    return [
        Case("global", "global", {}),
        *(Case(f"local {nominal}", "local", {"window": used[nominal]}, used[nominal]) for nominal in windows),
        *(
            Case(
                f"longformer {largest} {mode}".removesuffix(" sdp"), "longformer", {**wide, "mode": mode}, used[largest]
            )
            for mode in scalings
        ),
    ]


def evolve(x: np.ndarray, case: Case, *, iterations: int, over: str, device: torch.device) -> np.ndarray:
    """Every state of the tokens under one pattern, (T + 1, n, d), in double precision."""
    start = torch.from_numpy(x).to(device=device, dtype=torch.float64)
    return iterate(start, by_pattern(case.pattern, **case.parameters), iterations=iterations, over=over).cpu().numpy()


def measure(
    history: np.ndarray, labels: np.ndarray, reference: np.ndarray, truth: Truth, *, radius: float
) -> dict[str, float]:
    """Every measure of one pattern's final clusters; `reference` are the clusters of global attention."""
    final = history[-1]
    found = {
        "tokens": len(final),
        "clusters": int(labels.max()) + 1,
        "silhouette": silhouette(final, labels),
        "fragments": clusters_holding(dbscan(final, radius=radius)),
        "share away": share_away(labels, reference),
        "rand index": rand_index(labels, reference),
        "effective rank": float(effective_rank(covariance_spectrum(final))),
    }
    if truth.mask is not None:
        found["dice"] = dice(subject_mask(labels, truth.mask.shape), truth.mask)
    if truth.labels is not None:
        two = two_cluster_accuracy(labels, truth.labels, history[0], truth.signs)
        found |= {"accuracy": two.accuracy, "coverage": two.coverage}
        found |= {"accuracy all clusters": majority_accuracy(labels, truth.labels)}
    return found


def spectra(history: np.ndarray) -> list[tuple[int, str, int, float]]:
    """(iteration, covariance, rank from 1, eigenvalue) of every state, with the covariance centred and not."""
    rows = []
    for kind, centred in (("centred", True), ("uncentred", False)):
        values = covariance_spectrum(history, centred=centred)
        rows += [(t, kind, rank, float(v)) for t, line in enumerate(values) for rank, v in enumerate(line, 1)]
    return rows


def cluster_all(
    x: np.ndarray, how: int | list[int], chosen: list[Case], truth: Truth, *, radius: float, seed: int, **iteration
) -> dict[str, dict]:
    """For each case its `history`, `labels` and `measures`; the first case is the reference of the others."""
    found: dict[str, dict] = {}
    for case in chosen:
        history = evolve(x, case, **iteration)
        labels = clusters(history[-1], how, seed=seed)
        reference = next(iter(found.values()))["labels"] if found else labels
        measures = measure(history, labels, reference, truth, radius=radius)
        if case.window is not None:
            measures["window"] = case.window
        found[case.name] = {"history": history, "labels": labels, "measures": measures}
    return found
