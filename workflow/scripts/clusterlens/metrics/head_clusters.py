"""Clusters of attention heads by the correlation of their maps, and how stable they are (T Section 4.1)."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from clusterlens.metrics.clusters import by_size
from clusterlens.metrics.fragmentation import rand_index
from clusterlens.metrics.similarity import mean_correlation


def head_tree(correlation: np.ndarray) -> np.ndarray:
    """Average linkage under the distance 1 − r, (heads, heads) -> SciPy's linkage matrix."""
    distance = 1 - np.nan_to_num(correlation)
    np.fill_diagonal(distance, 0)
    distance = (distance + distance.T) / 2
    return linkage(squareform(distance, checks=False), "average")


def head_clusters(correlation: np.ndarray, clusters: int) -> np.ndarray:
    """The tree cut into clusters, (heads, heads) -> (heads,); cluster 0 is the largest."""
    return by_size(fcluster(head_tree(correlation), clusters, criterion="maxclust"))


def stability(per_text: np.ndarray, clusters: int, *, resamples: int = 200, seed: int = 0) -> np.ndarray:
    """Adjusted Rand index of the clusters of resampled texts against those of all texts, one per resample.

    `per_text` is (texts, heads, heads). 1 where every resample gives the same clusters, about 0 where they are chance,
    NaN where two heads have no correlation at all.
    """
    rng = np.random.default_rng(seed)
    mean = mean_correlation(per_text)
    if not np.isfinite(mean).all():
        return np.full(resamples, np.nan)
    whole = head_clusters(mean, clusters)
    drawn = rng.integers(len(per_text), size=(resamples, len(per_text)))
    return np.array([rand_index(head_clusters(mean_correlation(per_text[rows]), clusters), whole) for rows in drawn])
