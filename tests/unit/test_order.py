"""Order parameters against brute force, other libraries and cases whose answer is known."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation
from sklearn.metrics import silhouette_score

from clusterlens.metrics import order
from clusterlens.particles.numbers import CLUSTERED
from clusterlens.particles.theory import even_spacing, random_spacing, uniform_causal

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


def test_distances_do_not_see_growth():
    x = np.array([[1.0, 0], [1.1, 0], [-1.0, 0], [-1.0, 0.3]])
    size = np.sqrt((x**2).sum(-1).mean())
    pairs = [np.linalg.norm(a - b) for a, b in combinations(x, 2)]
    for scale in (1e-6, 1, 1e6):
        assert order.pair_distance(scale * x) == pytest.approx(np.mean(pairs) / size)
        assert order.nearest_distance(scale * x) == pytest.approx((0.1 + 0.1 + 0.3 + 0.3) / 4 / size)
        assert order.merged_places(scale * x, share=0.1) == pytest.approx(1 / 6)
    assert np.isnan(order.nearest_distance(np.ones((1, 2))))


def straight(ends: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Tokens on straight lines from start to end, (101, S, n, d)."""
    share = np.linspace(0, 1, 101)[:, None, None, None]
    return (1 - share) * starts + share * ends


def within_final_clusters(x: np.ndarray) -> np.ndarray:
    """What was once taken for convergence: the mean distance of tokens that end in one cluster, (T, n, d) -> (T,)."""
    labels = order.place_labels(x[-1])
    same = (labels[:, None] == labels) & ~np.eye(len(labels), dtype=bool)
    return np.array([order.scaled_distances(tokens)[same].mean() for tokens in x])


def test_tokens_that_go_straight_to_random_places_do_not_count_as_converging():
    rng = np.random.default_rng(5)
    x = straight(*rng.uniform(-1, 1, (2, 20, 80, 2)))
    old = np.array([within_final_clusters(x[:, system]) for system in range(20)])
    assert (old[:, -1] < 0.05 * old[:, 0]).all()  # it falls by construction
    assert 0.9 < np.mean(order.pair_distance(x[-1]) / order.pair_distance(x[0])) < 1.1
    assert 0.8 < np.mean(order.nearest_distance(x[-1]) / order.nearest_distance(x[0])) < 1.2
    assert order.merged_places(x[-1]).max() < CLUSTERED


def test_tokens_that_go_straight_to_four_places_count_as_converging():
    rng = np.random.default_rng(5)
    corners = np.tile([[1.0, 1], [1, -1], [-1, 1], [-1, -1]], (10, 1))
    x = straight(corners + 1e-3 * rng.standard_normal((20, 40, 2)), rng.uniform(-1, 1, (20, 40, 2)))
    assert order.merged_places(x[0]).max() < CLUSTERED < order.merged_places(x[-1]).min()
    assert (order.nearest_distance(x[-1]) < 0.02 * order.nearest_distance(x[0])).all()


def test_groups_are_clusters_of_enough_tokens():
    x = np.repeat(np.eye(3), [5, 4, 1], axis=0)
    labels = order.direction_labels(x)
    assert [order.count(labels, members=size) for size in (1, 2, 5, 6)] == [3, 2, 1, 0]


def test_near_a_line_and_near_its_plane():
    angle = np.radians([0, 19, 21, 90, 111, 161, 180])
    x = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    axis = np.array([1.0, 0, 0])
    assert order.near_line(x, axis) == pytest.approx(4 / 7)
    assert order.near_plane(x, axis) == pytest.approx(1 / 7)
    uniform = cloud(200_000, 3)
    assert order.near_plane(uniform, axis) == pytest.approx(np.sin(np.radians(20)), abs=5e-3)


def test_azimuth_turns_with_the_tokens():
    axis = order.directions(np.array([1.0, 2, -1]))
    x, turn = cloud(6, 3), Rotation.from_rotvec(np.radians(25) * axis)
    moved = (order.azimuth(turn.apply(x), axis) - order.azimuth(x, axis)) % 360
    assert np.allclose(moved, 25) or np.allclose(moved, 335)


def test_uniform_causal_attention_favours_the_first_token():
    """Token j of n receives 1/j + ... + 1/n."""
    p = uniform_causal(64)
    np.testing.assert_allclose(p.sum(1), 1)
    found = order.received(p)
    np.testing.assert_allclose(found[:3], [sum(1 / i for i in range(j, 65)) for j in (1, 2, 3)])
    assert found[0] / np.median(found) == pytest.approx(6.767, abs=1e-3)


def test_random_tokens_on_the_circle_are_half_as_far_apart_as_evenly_spaced_ones():
    even = np.linspace(0, 2 * np.pi, 65)[:-1]
    assert order.nearest_angle(np.stack([np.cos(even), np.sin(even)], 1)) == pytest.approx(even_spacing(64))
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, (4000, 64))
    found = order.nearest_angle(np.stack([np.cos(angle), np.sin(angle)], -1)).mean()
    assert found == pytest.approx(random_spacing(64), rel=0.01)


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
    rate, fit = order.fitted_rate(t, 3 * np.exp(-1.7 * t))
    assert rate == pytest.approx(1.7) and fit == pytest.approx(1)
    rate, fit = order.fitted_rate(t, np.exp(-0.5 * t) + 1e-4)  # a plateau from t = 18 on
    assert rate == pytest.approx(0.5, rel=0.05) and fit > 0.99
    assert np.isnan(order.fitted_rate(t, 1 + t)).all()
    assert np.isnan(order.fitted_rate(t, np.zeros(61))).all()
    noisy = np.exp(-0.1 * t + RNG.standard_normal(61))
    assert order.fitted_rate(t, noisy)[1] < 0.9
