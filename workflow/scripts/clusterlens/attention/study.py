"""A's simulation study on one cloud of tokens: every pattern, its clusters and their measures (A §3)."""

import numpy as np
import torch

from clusterlens.attention.cases import Case, fitted_windows
from clusterlens.attention.clustering import Settled
from clusterlens.attention.iteration import Attention, by_pattern, iterate
from clusterlens.attention.tokens import Tokens
from clusterlens.metrics.agreement import dice, majority_accuracy, subject_mask, two_cluster_accuracy
from clusterlens.metrics.clusters import dbscan, find_clusters, silhouette
from clusterlens.metrics.fragmentation import clusters_holding, rand_index, share_away
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank

CPU = torch.device("cpu")


def measure(
    history: np.ndarray, labels: np.ndarray, reference: np.ndarray, tokens: Tokens, *, radius: float
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
    if tokens.mask is not None:
        found["dice"] = dice(subject_mask(labels, tokens.mask.shape), tokens.mask)
    if tokens.labels is not None and tokens.signs is not None:
        two = two_cluster_accuracy(labels, tokens.labels, history[0], tokens.signs)
        found |= {"accuracy": two.accuracy, "coverage": two.coverage}
        found |= {"accuracy all clusters": majority_accuracy(labels, tokens.labels)}
    return found


def settle(
    tokens: Tokens,
    attention: Attention,
    reference: np.ndarray | None,
    *,
    clusters: int | list[int],
    iterations: int,
    axis: str,
    radius: float,
    seed: int,
    device: torch.device = CPU,
) -> Settled:
    """Tokens under one attention, in double precision, clustered and measured; without a reference against itself."""
    start = torch.from_numpy(tokens.x).to(device=device, dtype=torch.float64)
    history = iterate(start, attention, iterations=iterations, axis=axis).cpu().numpy()
    labels = find_clusters(history[-1], clusters, seed=seed)
    measures = measure(history, labels, labels if reference is None else reference, tokens, radius=radius)
    return Settled(history, labels, measures)


def settle_all(tokens: Tokens, chosen: list[Case], *, global_tokens: list[int], **settings) -> dict[str, Settled]:
    """Each case under its name; the first is the reference of the others."""
    fitted = fitted_windows([case.window for case in chosen if case.window], len(tokens.x))
    found: dict[str, Settled] = {}
    for case in chosen:
        reference = next(iter(found.values())).labels if found else None
        attention = by_pattern(case.pattern, **case.parameters(fitted, global_tokens))
        one = found[case.name] = settle(tokens, attention, reference, **settings)
        if case.window is not None:
            one.measures["window"] = fitted[case.window]
        if case.mode != "sdp":
            plain = found[Case(case.pattern, case.window).name]
            one.measures["largest difference from sdp"] = float(np.abs(one.history[-1] - plain.history[-1]).max())
    return found
