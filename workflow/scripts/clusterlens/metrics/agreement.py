"""Clusters against ground truth: the dice of a mask, accuracies of cluster-to-label maps, and classes that gather."""

from typing import NamedTuple

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from clusterlens.errors import UserError


def dice(mask: np.ndarray, truth: np.ndarray) -> float:
    """2|M ∩ G| / (|M| + |G|) of two boolean masks; two empty masks agree."""
    total = mask.sum() + truth.sum()
    return float(2 * (mask & truth).sum() / total) if total else 1.0


def subject_mask(labels: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """The subject's mask from clusters of pixels: a cluster is ground if the border holds more of it than the inside.

    Uses no ground truth. With two clusters, one is the subject and the other the ground, as in A §3.1.
    """
    picture = labels.reshape(grid)
    border = np.ones(grid, dtype=bool)
    border[1:-1, 1:-1] = False
    names = np.unique(labels)
    excess = {name: (picture[border] == name).mean() - (picture[~border] == name).mean() for name in names}
    subject = [name for name in names if excess[name] <= 0] or [min(names, key=excess.__getitem__)]
    return np.isin(picture, subject)


def check_two_classes(truth: np.ndarray) -> None:
    classes = np.unique(truth)
    if len(classes) != 2:
        shown = ", ".join(map(str, classes[:6]))
        raise UserError(f"the label must have two classes, but it has {len(classes)} ({shown}): leave it out, or merge")


class Labelled(NamedTuple):
    """Two clusters given a label each: the accuracy on their tokens and the share of all tokens they hold."""

    accuracy: float
    coverage: float
    positive: int
    negative: int


def two_cluster_accuracy(labels: np.ndarray, truth: np.ndarray, features: np.ndarray, signs: np.ndarray) -> Labelled:
    """Accuracy of the two clusters that domain knowledge speaks for most clearly, A §2.1 and §3.1.

    `features` (n, d) are the standardised inputs, `signs` (d) tells which way each is known to point. A cluster's
    evidence is the mean over its tokens of Σ_f sign_f · feature_f; the cluster with the most is called 1, the one
    with the least 0, and the others get no label.
    """
    check_two_classes(truth)
    names = [name for name in np.unique(labels) if name >= 0]
    evidence = [(features[labels == name] @ signs).mean() for name in names]
    positive, negative = names[int(np.argmax(evidence))], names[int(np.argmin(evidence))]
    held = np.isin(labels, [positive, negative])
    right = (labels[held] == positive) == (truth[held] == truth.max())
    return Labelled(float(right.mean()), float(held.mean()), int(positive), int(negative))


def majority_accuracy(labels: np.ndarray, truth: np.ndarray) -> float:
    """Accuracy when every cluster is given the label that most of its tokens have: all tokens covered, labels used."""
    right = sum(np.unique(truth[labels == name], return_counts=True)[1].max() for name in np.unique(labels))
    return float(right / len(truth))


def same_class_pairs(labels: np.ndarray, truth: np.ndarray) -> float:
    """Of all pairs of tokens in one cluster, the share of one class; with everything in one cluster this is chance."""
    counts = contingency_matrix(labels, truth)
    of_class, of_cluster = pairs(counts).sum(), pairs(counts.sum(axis=1)).sum()
    return float(of_class / of_cluster) if of_cluster else float("nan")


def pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1) / 2


def within_class_share(x: np.ndarray, truth: np.ndarray) -> float:
    """Σ_c Σ_i∈c |x_i − μ_c|² / Σ_i |x_i − μ|²: 0 where each class is one point, 1 where their means agree."""
    within = sum(((x[truth == value] - x[truth == value].mean(axis=0)) ** 2).sum() for value in np.unique(truth))
    return float(within / ((x - x.mean(axis=0)) ** 2).sum())
