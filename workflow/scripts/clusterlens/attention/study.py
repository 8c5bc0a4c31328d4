"""A's simulation study on one cloud of tokens: every pattern, its clusters and their measures (A §3)."""

import numpy as np
import torch

from clusterlens.attention.cases import Case, fitted_windows
from clusterlens.attention.clustering import Settled
from clusterlens.attention.iteration import Attention, by_pattern, iterate
from clusterlens.attention.tokens import Tokens
from clusterlens.metrics.agreement import (
    dice,
    majority_accuracy,
    same_class_pairs,
    subject_mask,
    two_cluster_accuracy,
    within_class_share,
)
from clusterlens.metrics.clusters import dbscan, find_clusters, kmeans, silhouette
from clusterlens.metrics.fragmentation import clusters_holding, rand_index, share_reassigned
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank

CPU = torch.device("cpu")


def measure(
    history: np.ndarray, labels: np.ndarray, reference: np.ndarray, tokens: Tokens, *, radius: float, seed: int = 0
) -> dict[str, float]:
    """Every measure of one pattern's final clusters; `reference` are the clusters of global attention."""
    final = history[-1]
    found = {
        "tokens": len(final),
        "clusters": int(labels.max()) + 1,
        "silhouette": silhouette(final, labels),
        "fragments": clusters_holding(dbscan(final, radius=radius)),
        "share reassigned": share_reassigned(labels, reference),
        "rand index": rand_index(labels, reference),
        "effective rank": float(effective_rank(covariance_spectrum(final))),
    }
    if tokens.mask is not None:
        found["dice"] = dice(subject_mask(labels, tokens.mask.shape), tokens.mask)
    if tokens.labels is not None and tokens.signs is not None:
        two = two_cluster_accuracy(labels, tokens.labels, history[0], tokens.signs)
        found |= {"accuracy": two.accuracy, "coverage": two.coverage}
        found |= {"accuracy all clusters": majority_accuracy(labels, tokens.labels)}
        found |= classes_gathered(history, labels, tokens.labels, seed=seed)
    return found


def classes_gathered(history: np.ndarray, labels: np.ndarray, truth: np.ndarray, *, seed: int) -> dict[str, float]:
    """Whether tokens of one class gather (A App. D.2), against chance and against as many clusters of the start."""
    chance = same_class_pairs(np.zeros_like(labels), truth)
    before = kmeans(history[0], int(labels.max()) + 1, seed=seed)
    ours = same_class_pairs(labels, truth)
    within = within_class_share(history[-1], truth)
    return {
        "within-class variance": within,
        "fall of within-class variance": within_class_share(history[0], truth) - within,
        "same-class pairs above chance": ours - chance,
        "same-class pairs above start": ours - same_class_pairs(before, truth),
    }


def follow(
    tokens: Tokens, attention: Attention, *, iterations: int, axis: str, device: torch.device = CPU
) -> np.ndarray:
    """Every state of the tokens, in double precision: (T + 1, n, d)."""
    start = torch.from_numpy(tokens.x).to(device=device, dtype=torch.float64)
    return iterate(start, attention, iterations=iterations, axis=axis).cpu().numpy()


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
    """Tokens under one attention, clustered and measured; without a reference against itself."""
    history = follow(tokens, attention, iterations=iterations, axis=axis, device=device)
    labels = find_clusters(history[-1], clusters, seed=seed)
    measures = measure(history, labels, labels if reference is None else reference, tokens, radius=radius, seed=seed)
    return Settled(history, labels, measures)


def settle_all(tokens: Tokens, chosen: list[Case], *, global_tokens: list[int], **settings) -> dict[str, Settled]:
    """Each case under its name; the first is the reference of the others."""
    fitted = windows_of(chosen, tokens)
    found: dict[str, Settled] = {}
    for case in chosen:
        reference = next(iter(found.values())).labels if found else None
        one = found[case.name] = settle(tokens, attention_of(case, fitted, global_tokens), reference, **settings)
        if case.window is not None:
            one.measures["window"] = fitted[case.window]
        if case.mode != "sdp":
            plain = found[Case(case.pattern, case.window).name]
            one.measures["largest difference from sdp"] = float(np.abs(one.history[-1] - plain.history[-1]).max())
    return found


def follow_all(tokens: Tokens, chosen: list[Case], *, global_tokens: list[int], **settings) -> dict[str, np.ndarray]:
    """Every state of each case under its name, neither clustered nor measured."""
    fitted = windows_of(chosen, tokens)
    return {case.name: follow(tokens, attention_of(case, fitted, global_tokens), **settings) for case in chosen}


def windows_of(chosen: list[Case], tokens: Tokens) -> dict[int, int]:
    windows = [case.window for case in chosen if case.window]
    return fitted_windows(windows, len(tokens.x)) if windows else {}


def attention_of(case: Case, fitted: dict[int, int], global_tokens: list[int]) -> Attention:
    return by_pattern(case.pattern, **case.parameters(fitted, global_tokens))
