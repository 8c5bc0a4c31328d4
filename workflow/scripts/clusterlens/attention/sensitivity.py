"""How A's numbers for global attention move with the choices that the paper leaves open."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform

from clusterlens.attention.cases import CHOICES, OUTCOMES
from clusterlens.attention.iteration import by_pattern
from clusterlens.attention.study import follow
from clusterlens.attention.tokens import Tokens
from clusterlens.metrics.agreement import majority_accuracy, two_cluster_accuracy
from clusterlens.metrics.clusters import kmeans, silhouette_of_distances


def vary(samples: Iterable[tuple[int, Tokens]], **grid) -> pd.DataFrame:
    """Every combination of choices on every sample: the columns `CHOICES`, then `OUTCOMES`."""
    rows = [(seed, *row) for seed, tokens in samples for row in vary_one(tokens, **grid)]
    return pd.DataFrame(rows, columns=[*CHOICES, *OUTCOMES])


def vary_one(
    tokens: Tokens, *, standardise: list[str], iterations: list[int], orders: int, clusters: list[int]
) -> Iterator[tuple]:
    """Global attention treats all tokens alike, so that their order only moves where K-means starts."""
    n, truth, signs = len(tokens.x), tokens.labels, tokens.signs
    assert truth is not None and signs is not None  # rows of a table have both
    permutations = [np.arange(n), *(np.random.default_rng(order).permutation(n) for order in range(1, orders))]
    for axis in standardise:
        history = follow(tokens, by_pattern("global"), iterations=max(iterations), axis=axis)
        for t in iterations:
            apart = squareform(pdist(history[t]))
            for order, permutation in enumerate(permutations):
                for k in clusters:
                    labels = np.empty(n, dtype=int)
                    labels[permutation] = kmeans(history[t][permutation], k, seed=0)
                    two = two_cluster_accuracy(labels, truth, tokens.x, signs)
                    outcomes = silhouette_of_distances(apart, labels), two.accuracy, two.coverage
                    yield axis, t, order, k, *outcomes, majority_accuracy(labels, truth)
