"""What the items on pretrained models count, against slow loops and closed forms."""

import numpy as np
import pytest
import torch

from clusterlens.metrics import order
from clusterlens.particles.runs import Run
from clusterlens.probed.transformers_fig2 import over_pairs, pair_groups
from clusterlens.probing.heads import Heads
from clusterlens.probing.layers import shown_layers
from clusterlens.probing.measure import flat, flow_run
from clusterlens.simulated.transformers import settled


def test_pairs_of_heads_are_those_of_a_loop():
    r = np.random.default_rng(0).uniform(-1, 1, (4, 6, 6))
    groups = pair_groups([1, 4], heads=6)
    assert list(groups) == ["heads 1,4", "other heads", "between groups"]
    for name, inside in (("heads 1,4", (True, True)), ("other heads", (False, False)), ("between groups", None)):
        pairs = [
            (a, b)
            for a in range(6)
            for b in range(6)
            if a != b and ((a in (1, 4), b in (1, 4)) == inside if inside else (a in (1, 4)) != (b in (1, 4)))
        ]
        expected = [np.mean([text[pair] for pair in pairs]) for text in r]
        np.testing.assert_allclose(over_pairs(r, groups[name]), expected)


def test_heads_that_a_checkpoint_lacks_have_no_pairs():
    groups = pair_groups([1, 9], heads=6)
    assert all(len(over_pairs(np.zeros((2, 6, 6)), pairs)) == 0 for pairs in groups.values())


def test_settled_is_the_time_after_the_last_change():
    clusters = np.array([[9, 3], [5, 3], [4, 3], [3, 3], [3, 3]])
    run = Run(
        "",
        {"systems": [(1, 1, 0), (1, 1, 1)]},
        np.arange(5) / 2,
        np.zeros((5, 1, 3)),
        None,
        np.eye(3)[None, None],
        None,
        {"clusters": clusters},
    )
    assert settled(run).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("wanted", "depth", "shown"),
    [([0, 24, 48, 90], 96, [0, 24, 48, 90]), ([0, 24, 48, 90], 12, [0, 4, 8, 12]), ([0, 2, 90], 1, [0, 1])],
)
def test_layers_are_spread_where_a_checkpoint_has_fewer(wanted, depth, shown):
    assert shown_layers(wanted, depth) == shown


def test_tokens_of_many_dimensions_keep_their_distances():
    x = np.random.default_rng(0).standard_normal((3, 7, 200))
    assert flat(x).shape == (3, 7, 7)
    np.testing.assert_allclose(order.distances(flat(x)), order.distances(x))
    np.testing.assert_allclose(np.linalg.norm(flat(x), axis=-1), np.linalg.norm(x, axis=-1))


def test_first_cosine_is_the_mean_over_the_others():
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    expected = [np.mean([a[0] @ b / np.linalg.norm(a[0]) / np.linalg.norm(b) for b in a[1:]]) for a in x]
    np.testing.assert_allclose(order.first_cosine(x), expected)
    assert np.isnan(order.first_cosine(x[:, :1])).all()


@pytest.fixture
def heads() -> Heads:
    drawn = torch.Generator().manual_seed(0)
    shapes = {"query": (3, 2, 12), "key": (3, 2, 12), "value": (3, 2, 12), "output": (3, 12, 2)}
    matrices = {name: torch.randn(shape, generator=drawn, dtype=torch.float64) / 4 for name, shape in shapes.items()}
    return Heads(**matrices, scale=0.3)


FLOW = {"tokens": 8, "start": "sphere", "time": 1.0, "step": 0.1, "seeds": [3, 4], "snapshots": [0, 1]}


def test_a_flow_is_measured_as_full_matrices_would_have_it(heads):
    """Plain Euler steps with every V_m, Q_m and K_m written out, and measures of the tokens themselves."""
    run = flow_run(heads, FLOW)
    for column, seed in enumerate(FLOW["seeds"]):
        x = np.random.default_rng(seed).standard_normal((8, 12))
        x *= np.sqrt(12) / np.linalg.norm(x, axis=1, keepdims=True)
        path = [x]
        for _ in range(10):
            velocity = 0
            for m in range(3):
                scores = 0.3 * (x @ heads.query[m].numpy().T) @ (x @ heads.key[m].numpy().T).T
                p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
                velocity = velocity + p @ x @ heads.value_matrix(m).numpy().T
            x = x + 0.1 * velocity
            path.append(x)
        path = np.stack(path)
        nearest = order.nearest_distance(path)
        np.testing.assert_allclose(run.order["nearest_distance"][:, column], nearest / nearest[0], rtol=1e-9)
        np.testing.assert_allclose(run.order["merged_places"][:, column], order.merged_places(path))
        np.testing.assert_array_equal(run.order["places"][:, column], order.count(order.place_labels(path)))
    assert run.path.shape == (11, 8, 3) and run.settings["dimension"] == 12


def test_heads_survive_their_file_and_random_ones_have_their_size(heads, tmp_path):
    heads.save(tmp_path / "heads.npz")
    found = Heads.load(tmp_path / "heads.npz")
    torch.testing.assert_close(found.value, heads.value, rtol=1e-6, atol=0)
    assert found.scale == heads.scale
    random = heads.like(seed=1)
    for name in ("query", "key", "value", "output"):
        ours, theirs = getattr(heads, name), getattr(random, name)
        torch.testing.assert_close(torch.linalg.matrix_norm(ours), torch.linalg.matrix_norm(theirs))
        assert not torch.allclose(ours, theirs)
    assert torch.equal(random.key, heads.like(seed=1).key)
