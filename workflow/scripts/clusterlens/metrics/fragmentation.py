"""How far a pattern's clusters are broken up, in themselves and against those of global attention."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix


def clusters_holding(labels: np.ndarray, *, share: float = 0.9) -> int:
    """The fewest clusters that hold the given share of all tokens; a token of noise (−1) is a cluster of its own."""
    noise = int((labels < 0).sum())
    sizes = np.sort(np.concatenate([np.bincount(labels[labels >= 0]), np.ones(noise, dtype=int)]))[::-1]
    return int(np.searchsorted(np.cumsum(sizes), share * len(labels) - 1e-9) + 1)


def share_reassigned(labels: np.ndarray, reference: np.ndarray) -> float:
    """The share of tokens outside the reference's clusters when clusters are paired as well as they can be."""
    table = contingency_matrix(reference, labels)
    return float(1 - table[linear_sum_assignment(table, maximize=True)].sum() / len(labels))


def rand_index(labels: np.ndarray, reference: np.ndarray) -> float:
    """Adjusted Rand index: 1 for the same clusters, about 0 for unrelated ones."""
    return float(adjusted_rand_score(reference, labels))
