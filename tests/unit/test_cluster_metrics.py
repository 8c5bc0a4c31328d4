"""Clusters, masks, label maps, fragmentation and spectra against hand-made cases and plain formulas."""

import numpy as np
import pandas as pd
import pytest

from clusterlens.errors import UserError
from clusterlens.metrics.agreement import (
    dice,
    majority_accuracy,
    same_class_pairs,
    subject_mask,
    two_cluster_accuracy,
    within_class_share,
)
from clusterlens.metrics.clusters import (
    by_size,
    choose_k,
    dbscan,
    find_clusters,
    kmeans,
    silhouette,
    silhouette_of_distances,
)
from clusterlens.metrics.fragmentation import clusters_holding, rand_index, share_reassigned
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank, gaps, shape


def blobs(sizes=(60, 40, 20), seed=0):
    rng = np.random.default_rng(seed)
    centres = 15 * np.eye(3)[: len(sizes)]
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return centres[truth] + rng.normal(size=(len(truth), 3)), truth


def slow_silhouette(x, labels):
    distance = np.linalg.norm(x[:, None] - x[None], axis=-1)
    scores = []
    for i in range(len(x)):
        own = (labels == labels[i]) & (np.arange(len(x)) != i)
        if not own.any():
            scores.append(0.0)
            continue
        a = distance[i, own].mean()
        b = min(distance[i, labels == other].mean() for other in set(labels) - {labels[i]})
        scores.append((b - a) / max(a, b))
    return np.mean(scores)


def test_silhouette_is_the_papers_formula():
    x, labels = blobs((15, 9, 1))
    assert silhouette(x, labels) == pytest.approx(slow_silhouette(x, labels))
    assert np.isnan(silhouette(x, np.zeros(25, dtype=int)))
    apart = np.linalg.norm(x[:, None] - x[None], axis=-1)
    assert silhouette_of_distances(apart, labels) == pytest.approx(slow_silhouette(x, labels))
    assert np.isnan(silhouette_of_distances(apart, np.zeros(25, dtype=int)))
    alone = np.where(np.arange(25) == 3, 1, 0)
    assert silhouette_of_distances(apart, alone) == pytest.approx(silhouette(x, alone))


def test_kmeans_and_dbscan_find_blobs_numbered_by_size():
    x, truth = blobs()
    np.testing.assert_array_equal(kmeans(x, 3, seed=0), truth)
    np.testing.assert_array_equal(dbscan(x, radius=0.35), truth)
    assert choose_k(x, [2, 3, 4, 5, 6], seed=0) == 3
    np.testing.assert_array_equal(find_clusters(x, [2, 3, 4], seed=0), truth)
    np.testing.assert_array_equal(by_size(np.array([5, 5, 2, -1, 5])), [0, 0, 1, -1, 0])


def test_a_cloud_of_two_points_gives_two_clusters_whatever_k():
    x = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    assert set(kmeans(x, 5, seed=0)) == {0, 1}
    assert choose_k(x, [2, 3], seed=0) == 2


def test_impossible_numbers_of_clusters_are_refused():
    x, _ = blobs()
    with pytest.raises(UserError, match="500 clusters do not fit 120 tokens"):
        kmeans(x, 500, seed=0)
    with pytest.raises(UserError, match="none of the candidate"):
        choose_k(x[:4], [5, 6], seed=0)


def test_dice_by_hand():
    mask = np.array([[1, 1, 0], [0, 1, 0]], dtype=bool)
    truth = np.array([[1, 0, 0], [0, 1, 1]], dtype=bool)
    assert dice(mask, truth) == pytest.approx(2 * 2 / 6)
    assert dice(truth, truth) == 1 and dice(mask, ~mask) == 0


def test_the_subject_is_what_does_not_fill_the_border():
    truth = np.zeros((8, 10), dtype=bool)
    truth[2:6, 3:8] = True
    for names in ((0, 1), (1, 0)):
        labels = np.where(truth, *names).ravel()
        np.testing.assert_array_equal(subject_mask(labels, (8, 10)), truth)


def test_two_labelled_clusters_are_those_with_most_and_least_evidence():
    labels = np.array([0] * 10 + [1] * 10 + [2] * 20)
    features = np.concatenate([np.full((10, 2), [2.0, -1.0]), np.full((10, 2), [-2.0, 1.0]), np.zeros((20, 2))])
    truth = np.array([1] * 9 + [0] + [0] * 7 + [1] * 3 + [1, 0] * 10)
    found = two_cluster_accuracy(labels, truth, features, np.array([1, -1]))
    assert found == pytest.approx((16 / 20, 0.5, 0, 1))
    assert two_cluster_accuracy(labels, truth, features, np.array([-1, 1])).accuracy == pytest.approx(4 / 20)
    assert majority_accuracy(labels, truth) == pytest.approx((9 + 7 + 10) / 40)


def test_a_label_with_three_classes_is_refused():
    with pytest.raises(UserError, match="two classes, but it has 3"):
        two_cluster_accuracy(np.array([0, 1, 0]), np.array([0, 1, 2]), np.zeros((3, 2)), np.ones(2))


def test_clusters_holding_counts_noise_as_clusters_of_one():
    labels = np.array([0] * 50 + [1] * 40 + [2] * 10)
    assert clusters_holding(labels) == 2
    assert clusters_holding(labels, share=0.95) == 3
    assert clusters_holding(np.array([0] * 8 + [-1, -1]), share=1.0) == 3


def test_share_reassigned_and_rand_index_ignore_names():
    reference = np.array([0] * 10 + [1] * 10)
    assert share_reassigned(1 - reference, reference) == 0
    assert rand_index(1 - reference, reference) == 1
    split = reference.copy()
    split[:4] = 2
    assert share_reassigned(split, reference) == pytest.approx(4 / 20)
    assert rand_index(split, reference) < 1


def test_spectrum_is_that_of_numpy_cov():
    x = np.random.default_rng(0).normal(size=(50, 4)) @ np.diag([3, 2, 1, 0.1]) + 7
    values = covariance_spectrum(x)
    np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(np.cov(x.T)))[::-1])
    np.testing.assert_allclose(covariance_spectrum(x, centred=False).sum(), (x**2).sum() / 50)
    np.testing.assert_allclose(covariance_spectrum(np.stack([x, 2 * x]))[1], 4 * values)


def test_effective_rank_of_known_spectra():
    assert effective_rank(np.array([1.0, 1.0, 1.0])) == pytest.approx(3)
    assert effective_rank(np.array([5.0, 0.0, 0.0])) == pytest.approx(1)
    np.testing.assert_allclose(effective_rank(np.array([[1.0, 1.0], [1.0, 0.0]])), [2, 1])


def test_gaps_are_logarithms_of_ratios_of_centred_eigenvalues():
    rows = [
        (t, seed, kind, rank, value)
        for t in (0, 5)
        for seed in (1, 2)
        for kind, factor in (("centred", 1), ("uncentred", 7))
        for rank, value in ((1, 1e3 * factor), (2, 1e2), (3, 10.0 ** (1 - t * seed)))
    ]
    found = gaps(pd.DataFrame(rows, columns=["iteration", "seed", "covariance", "rank", "eigenvalue"]))
    assert list(found) == [f"log10 lambda{pair}" for pair in ("1/lambda2", "2/lambda3", "1/lambda3")]
    np.testing.assert_allclose(found.loc[(0, 1)], [1, 1, 2])
    np.testing.assert_allclose(found.loc[(5, 2)], [1, 11, 12])


def test_an_eigenvalue_of_nothing_leaves_a_finite_gap():
    rows = [(0, 0, "centred", rank, value) for rank, value in ((1, 4.0), (2, 1.0), (3, 0.0))]
    found = gaps(pd.DataFrame(rows, columns=["iteration", "seed", "covariance", "rank", "eigenvalue"]))
    assert found["log10 lambda1/lambda3"].item() == pytest.approx(30)


def test_a_plane_a_line_and_neither_are_told_apart():
    ratios = pd.DataFrame(
        {"log10 lambda1/lambda2": [0.5, 2.8, 2.8, 0.5, 1.5], "log10 lambda2/lambda3": [3.0, 0.5, 3.0, 0.5, 3.0]}
    )
    assert shape(ratios)["plane"].tolist() == [True, False, False, False, False]
    assert shape(ratios)["line"].tolist() == [False, True, True, False, False]


def test_pairs_of_one_class_are_counted_within_clusters():
    labels, truth = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    assert same_class_pairs(labels, truth) == pytest.approx(2 / 4)
    assert same_class_pairs(np.zeros(5, dtype=int), truth) == pytest.approx(4 / 10)
    assert np.isnan(same_class_pairs(np.arange(5), truth))


def test_within_class_share_is_that_of_a_plain_sum():
    rng = np.random.default_rng(0)
    x, truth = rng.normal(size=(30, 3)), np.arange(30) % 3 > 0
    total = sum(np.sum((row - x.mean(axis=0)) ** 2) for row in x)
    within = sum(np.sum((row - x[truth == own].mean(axis=0)) ** 2) for row, own in zip(x, truth, strict=True))
    assert within_class_share(x, truth) == pytest.approx(within / total)
    assert within_class_share(np.where(truth[:, None], 1.0, -1.0) * np.ones(3), truth) == 0
