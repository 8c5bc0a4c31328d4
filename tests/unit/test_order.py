"""Order parameters against brute force, other libraries and cases whose answer is known."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import silhouette_score

from clusterlens.metrics import order

RNG = np.random.default_rng(3)


def cloud(*shape):
    return RNG.standard_normal(shape)


def test_components_equal_those_of_scipy_for_every_set_of_a_batch():
    linked = RNG.uniform(size=(40, 25, 25)) < 0.05
    linked |= linked.swapaxes(1, 2)
    labels = order.components(linked)
    for graph, own in zip(linked, labels, strict=True):
        number, other = connected_components(graph, directed=False)
        assert order.count(own) == number
        same = own[:, None] == own[None]
        assert (same == (other[:, None] == other[None])).all()


def test_a_long_chain_is_one_component():
    n = 300
    linked = np.zeros((n, n), bool)
    shuffle = RNG.permutation(n)
    linked[shuffle[:-1], shuffle[1:]] = linked[shuffle[1:], shuffle[:-1]] = True
    assert order.count(order.components(linked)) == 1


def test_cosines_and_close_pairs_equal_a_double_loop():
    x = cloud(12, 3)
    x[3] = 2 * x[7]
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    cosine = {(i, j): x[i] @ x[j] / np.linalg.norm(x[i]) / np.linalg.norm(x[j]) for i, j in pairs}
    assert order.mean_cosine(x) == pytest.approx(np.mean(list(cosine.values())))
    assert order.close_pairs(x) == pytest.approx(np.mean([value > 0.999 for value in cosine.values()]))


def test_a_batch_answers_set_by_set():
    x = cloud(2, 5, 9, 2)
    labels = order.direction_labels(x, threshold=0.9)
    for measure in (
        order.mean_cosine,
        order.close_pairs,
        order.largest_gap,
        order.nearest_angle,
        order.diagonal_cosine,
        lambda y: order.count(order.direction_labels(y)),
        lambda y: order.count(order.place_labels(y)),
    ):
        whole = measure(x)
        assert whole.shape == (2, 5)
        np.testing.assert_allclose(whole[1, 3], measure(x[1, 3]))
    np.testing.assert_allclose(order.silhouette(x, labels)[1, 2], order.silhouette(x[1, 2], labels[1, 2]))


def test_silhouette_equals_that_of_sklearn():
    for _ in range(20):
        x, labels = cloud(15, 3), RNG.integers(0, 4, 15)
        first = np.array([np.flatnonzero(labels == label)[0] for label in labels])
        assert order.silhouette(x, first) == pytest.approx(silhouette_score(x, labels))


def test_silhouette_is_undefined_for_one_cluster_or_all_alone():
    x = cloud(6, 2)
    assert np.isnan(order.silhouette(x, np.zeros(6, int)))
    assert np.isnan(order.silhouette(x, np.arange(6)))


def test_a_single_token_has_no_pairs():
    x = cloud(1, 3)
    for measure in (order.mean_cosine, order.close_pairs, order.nearest_angle):
        assert np.isnan(measure(x))
    assert np.isnan(order.first_attention(np.ones((1, 1))))
    assert order.count(order.direction_labels(x)) == 1


def test_the_zero_vector_has_no_direction():
    x = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert order.mean_cosine(x) == 0


def test_largest_gap_on_the_circle():
    angle = np.radians([0, 10, 30, 200])
    x = np.stack([np.cos(angle), np.sin(angle)], 1)
    assert order.largest_gap(x) == pytest.approx(170)
    assert np.isnan(order.largest_gap(cloud(4, 3)))


def test_nearest_angle_of_the_axes_is_a_right_angle():
    assert order.nearest_angle(np.eye(3)) == pytest.approx(90)


def test_places_count_clusters_whatever_the_scale():
    centres = np.array([[0, 0], [1, 0], [0, 1]])
    x = np.repeat(centres, 5, 0) + 1e-3 * cloud(15, 2)
    for scale in (1e-8, 1, 1e8):
        assert order.count(order.place_labels(scale * x)) == 3
    assert order.count(order.place_labels(np.zeros((4, 2)))) == 1


def test_distance_within_counts_pairs_of_one_cluster_only():
    x = np.array([[1.0, 0], [1.1, 0], [-1.0, 0], [-1.0, 0.3]])
    size = np.sqrt((x**2).sum(-1).mean())
    assert order.distance_within(x, np.array([0, 0, 2, 2])) == pytest.approx((0.1 + 0.3) / 2 / size)
    assert np.isnan(order.distance_within(x, np.arange(4)))


def test_rank_and_distance_of_boolean_matrices():
    p = np.zeros((6, 6))
    p[:4, 0] = p[4:, 5] = 1
    assert order.matrix_rank(p) == 2 and order.boolean_distance(p) == 0
    assert order.boolean_distance(np.full((4, 4), 0.25)) == 0.25
    assert order.matrix_rank(np.stack([np.eye(3), np.ones((3, 3))])).tolist() == [3, 1]


def test_first_attention_leaves_the_first_token_out():
    p = np.array([[1.0, 0, 0], [0.4, 0.6, 0], [0.2, 0.3, 0.5]])
    assert order.first_attention(p) == pytest.approx(0.3)


def test_hull_vertices_of_a_cube_with_points_inside():
    corners = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)
    x = np.concatenate([corners, RNG.uniform(0.2, 0.8, (10, 3))])
    assert order.hull_vertices(x).tolist() == list(range(8))
    assert order.vertex_distance(corners, [corners]) == 0
    middle = np.full((1, 3), 0.5)
    assert order.vertex_distance(middle, [corners]) == pytest.approx(0.5)  # half a diagonal of a diagonal


def test_hull_vertices_on_the_line_and_of_flat_sets():
    assert order.hull_vertices(np.array([[3.0], [1.0], [2.0]])).tolist() == [0, 1]
    assert order.hull_vertices(np.zeros((4, 2))).tolist() == [0, 1, 2, 3]


def test_left_eigenvectors_are_constant_on_the_planes_of_the_flow():
    value = np.array([[2.0, 1.0], [0.0, 1.0]])
    (covector,) = order.left_eigenvectors(value, leading=True)
    np.testing.assert_allclose(covector @ value, 2 * covector)
    assert len(order.left_eigenvectors(np.diag([1.0, 0.5, -1.0]), leading=False)) == 2


def test_plane_distance_vanishes_on_three_levels():
    assert order.plane_distance(np.array([-2.0, -2, 0, 3, 3])) == 0
    assert order.plane_distance(np.array([-1.0, 0.5, 1])) == pytest.approx(0.5 / 3 / 2)


def test_spread_within_clusters():
    x = np.array([[0.0], [2.0], [10.0], [10.0]])
    assert order.spread_within(x, np.array([0, 0, 2, 2])) == pytest.approx(np.sqrt(0.5))


def test_the_fitted_rate_of_an_exponential_is_its_exponent():
    t = np.linspace(0, 30, 61)
    slope, fit = order.fitted_rate(t, 3 * np.exp(-1.7 * t))
    assert slope == pytest.approx(-1.7) and fit == pytest.approx(1)
    assert np.isnan(order.fitted_rate(t, np.zeros(61))).all()
    noisy = np.exp(-0.1 * t + RNG.standard_normal(61))
    assert order.fitted_rate(t, noisy)[1] < 0.9
