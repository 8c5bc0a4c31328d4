"""Clusters of tokens: K-means with a given or a chosen k, DBSCAN, and how coherent they are."""

import numpy as np
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import silhouette_score

from clusterlens.errors import UserError
from clusterlens.metrics.threads import threads

RESTARTS = 10
SEARCH_SAMPLE = 1024


def silhouette(x: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette, A Eqs. 4-6; nan where it is not defined (one cluster, or every token its own)."""
    if not 2 <= len(np.unique(labels)) < len(labels):
        return float("nan")
    return float(silhouette_score(x, labels))


def silhouette_of_distances(apart: np.ndarray, labels: np.ndarray) -> float:
    """The same from distances (n, n) and labels 0 to k − 1, for many labellings of one cloud."""
    members = np.eye(labels.max() + 1)[labels]
    sizes = members.sum(axis=0)
    if not 2 <= len(sizes) < len(labels):
        return float("nan")
    to_cluster, own = apart @ members, members.astype(bool)
    a = to_cluster[own] / np.maximum(sizes[labels] - 1, 1)
    b = np.where(own, np.inf, to_cluster / sizes).min(axis=1)
    largest = np.maximum(a, b)
    return float(np.where((sizes[labels] > 1) & (largest > 0), (b - a) / np.where(largest > 0, largest, 1), 0).mean())


def by_size(labels: np.ndarray) -> np.ndarray:
    """The same clusters numbered from the largest (0) to the smallest; −1 (noise) keeps its number."""
    names, counts = np.unique(labels[labels >= 0], return_counts=True)
    rank = {name: new for new, name in enumerate(names[np.argsort(-counts, kind="stable")])}
    return np.array([rank.get(label, -1) for label in labels])


def kmeans(x: np.ndarray, k: int, *, seed: int) -> np.ndarray:
    """Labels of K-means, cluster 0 the largest. A cloud with fewer distinct points than k gets as many as it has."""
    if not 1 <= k <= len(x):
        raise UserError(f"{k} clusters do not fit {len(x)} tokens: choose 1 to {len(x)}")
    distinct = len(np.unique(np.round(x / (np.abs(x).max() or 1.0), 9), axis=0))
    with threads().limit(limits=1):
        return by_size(KMeans(min(k, distinct), n_init=RESTARTS, random_state=seed).fit_predict(x))


def choose_k(x: np.ndarray, candidates: list[int], *, seed: int) -> int:
    """The candidate with the highest silhouette, judged on at most 1,024 tokens."""
    rows = np.arange(len(x))
    if len(x) > SEARCH_SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(len(x), SEARCH_SAMPLE, replace=False))
    possible = [k for k in candidates if k < len(rows)]
    if not possible:
        raise UserError(f"none of the candidate numbers of clusters {candidates} fits {len(x)} tokens")
    scores = [silhouette(x[rows], kmeans(x[rows], k, seed=seed)) for k in possible]
    return possible[int(np.nanargmax(scores))] if np.isfinite(scores).any() else possible[0]


def find_clusters(x: np.ndarray, clusters: int | list[int], *, seed: int) -> np.ndarray:
    """K-means labels with the number of clusters given, or chosen by silhouette among candidates."""
    return kmeans(x, clusters if isinstance(clusters, int) else choose_k(x, clusters, seed=seed), seed=seed)


def dbscan(x: np.ndarray, *, radius: float, min_samples: int = 5) -> np.ndarray:
    """DBSCAN labels, −1 for noise; `radius` is a share of the cloud's root mean square distance from its centre."""
    spread = np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())
    return by_size(DBSCAN(eps=max(radius * spread, 1e-12), min_samples=min_samples).fit_predict(x))
