"""Patterns against dense references, the iteration, and what it refuses."""

import numpy as np
import pytest
import torch

from clusterlens.attention.hybrid import longformer, random_positions
from clusterlens.attention.iteration import by_pattern, iterate, standardise
from clusterlens.attention.linear import linformer, orthogonal_features
from clusterlens.attention.patterns import PATTERNS, check_parameters
from clusterlens.attention.strength import leaders, links, share_of_leaders
from clusterlens.errors import UserError
from reference import attention as reference

MASKED = [
    ("global", {}),
    ("causal", {}),
    ("local", {"window": 7}),
    ("local", {"window": 1}),
    ("shifted", {"window": 10}),
    ("overlapping", {"window": 12}),
    ("overlapping", {"window": 2}),
    ("dilated", {"window": 6, "dilation": 3}),
    ("dilated", {"window": 40, "dilation": 5}),
    ("longformer", {"window": 16, "global_tokens": [0, -1, 40]}),
    ("longformer", {"window": 16, "global_tokens": []}),
    ("bigbird", {"window": 8, "global_tokens": [3], "random_keys": 5, "seed": 1}),
    ("strided", {"window": 8, "stride": 9}),
    ("strided", {"window": 30, "stride": 4}),
    ("strided", {"window": 2, "stride": 1}),
]


def cloud(n=150, d=3, seed=0, count=1):
    draws = np.random.default_rng(seed).normal(size=(count, n, d))
    return draws[0] if count == 1 else draws


def call(name, q, k, v, *, scale, **parameters):
    return PATTERNS[name].function(*(torch.from_numpy(t) for t in (q, k, v)), scale=scale, **parameters).numpy()


def dense_mask(name, n, iteration, parameters):
    chosen = None
    if name == "bigbird":
        chosen = random_positions(n, 8, [3], 5, 1).tolist()
    return reference.mask_of(name, n, iteration=iteration, chosen=chosen, **parameters)


@pytest.mark.parametrize("n", [150, 64, 43])
@pytest.mark.parametrize(("name", "parameters"), MASKED)
def test_masked_patterns_equal_the_dense_mask(name, parameters, n):
    q, k, v = cloud(n, count=3)
    for iteration in (0, 1) if name == "shifted" else (0,):
        mask = dense_mask(name, n, iteration, parameters)
        extra = {"iteration": iteration} if name == "shifted" else {}
        ours = call(name, q, k, v, scale=0.8, **parameters, **extra)
        np.testing.assert_allclose(ours, reference.masked_attention(q, k, v, mask, 0.8), atol=1e-12)


@pytest.mark.parametrize(("name", "parameters"), MASKED)
def test_multiply_adds_are_those_of_the_mask(name, parameters):
    n, d = 150, 3
    pairs = np.mean([dense_mask(name, n, iteration, parameters).sum() for iteration in (0, 1)])
    assert PATTERNS[name].multiply_adds(n, d, **parameters) == 2 * d * pairs


def test_leading_axes_are_independent():
    q = torch.from_numpy(cloud(100, count=6)).reshape(2, 3, 100, 3)
    for name, parameters in MASKED:
        if name == "bigbird":
            continue
        whole = PATTERNS[name].function(q, q, q, scale=0.5, **parameters)
        one = PATTERNS[name].function(q[1, 2], q[1, 2], q[1, 2], scale=0.5, **parameters)
        torch.testing.assert_close(whole[1, 2], one, atol=1e-12, rtol=0)


def test_sinkhorn_is_doubly_stochastic_and_equal_to_plain_division():
    q, k, v = cloud(40, count=3)
    p = reference.sinkhorn_matrix(0.5 * q @ k.T, 30)
    assert np.abs(p.sum(axis=0) - 1).max() < 1e-6
    np.testing.assert_allclose(call("sinkhorn", q, k, v, scale=0.5, rounds=30), p @ v, atol=1e-12)


def test_linear_spiking_and_performer_equal_their_n_squared_forms():
    q, k, v = cloud(60, count=3)
    np.testing.assert_allclose(call("linear", q, k, v, scale=1.0), reference.linear_attention(q, k, v), atol=1e-12)
    x = cloud(60)
    ours = call("spiking", x, x, x, scale=0.125, threshold=0.5)
    np.testing.assert_allclose(ours, reference.spiking_attention(x, 0.5, 0.125), atol=1e-12)
    assert np.abs(ours).max() > 0
    omega = orthogonal_features(32, 3, seed=4).numpy()
    ours = call("performer", q, k, v, scale=0.6, features=32, seed=4)
    np.testing.assert_allclose(ours, reference.kernel_attention(q, k, v, omega, 0.6), atol=1e-10)


def test_performer_tends_to_softmax_attention_and_its_features_are_orthogonal():
    q, k, v = cloud(80, count=3) * 0.7
    exact = call("global", q, k, v, scale=0.5)
    errors = [np.abs(call("performer", q, k, v, scale=0.5, features=m, seed=0) - exact).mean() for m in (8, 256, 8192)]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.01
    omega = orthogonal_features(9, 3, seed=0)[3:6]
    gram = omega @ omega.T
    assert (gram - gram.diagonal().diag()).abs().max() < 1e-12


def test_linformer_projects_keys_and_values():
    q, k, v = (torch.from_numpy(t) for t in cloud(50, count=3))
    projection = torch.randn(10, 50, generator=torch.Generator().manual_seed(7), dtype=torch.float64) / 10**0.5
    expected = (0.5 * q @ (projection @ k).T).softmax(dim=-1) @ (projection @ v)
    torch.testing.assert_close(linformer(q, k, v, scale=0.5, rank=10, seed=7), expected)
    assert not torch.allclose(linformer(q, k, v, scale=0.5, rank=10, seed=8), expected)


def test_longformer_rows_can_have_their_own_projections():
    q, k, v, qg, kg, vg = (torch.from_numpy(t) for t in cloud(70, count=6))
    out = longformer(q, k, v, scale=0.5, window=8, global_tokens=[5], rows=(qg, kg, vg), row_scale=0.25)
    expected = (0.25 * qg[5] @ kg.T).softmax(dim=-1) @ vg
    torch.testing.assert_close(out[5], expected)


def test_iteration_follows_the_equations():
    x = cloud(90)
    history = iterate(torch.from_numpy(x), by_pattern("overlapping", window=20), iterations=5)
    mask = reference.mask_of("overlapping", 90, window=20)
    expected = reference.iterate(x, lambda y: reference.masked_attention(y, y, y, mask, 3**-0.5), 5)
    assert history.shape == (6, 90, 3)
    np.testing.assert_array_equal(history[0].numpy(), x)
    np.testing.assert_allclose(history[-1].numpy(), expected, atol=1e-10)


def test_shifted_windows_alternate_within_the_iteration():
    x = torch.from_numpy(cloud(60))
    history = iterate(x, by_pattern("shifted", window=20), iterations=2)
    plain = iterate(x, by_pattern("local", window=20), iterations=2)
    torch.testing.assert_close(history[1], plain[1])
    assert not torch.allclose(history[2], plain[2])


def test_standardisation_modes():
    z = torch.from_numpy(cloud(30, 4)) * torch.tensor([1.0, 2.0, 3.0, 4.0]) + 5
    for name, axis in (("feature", 0), ("token", 1), ("scalar", (0, 1))):
        out = standardise(z, axis=name).numpy()
        np.testing.assert_allclose(out.mean(axis=axis), 0, atol=1e-12)
        np.testing.assert_allclose(out.std(axis=axis), 1, atol=1e-12)


def test_a_constant_feature_stays_put():
    x = torch.from_numpy(cloud(50))
    x[:, 1] = 0.3
    history = iterate(x, by_pattern("global"), iterations=4)
    assert torch.isfinite(history).all()
    torch.testing.assert_close(history[-1][:, 1], x[:, 1])


def test_links_and_leaders_come_from_the_attention_matrix():
    x = np.array([[4.0, 0.0], [5.0, 0.0], [3.0, 0.1], [0.0, 4.0], [0.0, 3.0], [0.1, 6.0]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    lead = leaders(x, labels)
    assert np.flatnonzero(lead).tolist() == [1, 5]
    copied = leaders(np.concatenate([x, x[1:2]]), np.append(labels, 0))
    assert np.flatnonzero(copied).tolist() == [1, 5, 6]
    found = links(x, threshold=1e-4)
    i, j, strength = found["token"], found["attends to"], found["strength"]
    assert share_of_leaders(found.head(2), lead, labels) == 1
    assert 0 < share_of_leaders(found, lead, labels) < 1
    assert (i != j).all() and (np.diff(strength) <= 0).all()
    p = reference.softmax_rows(x @ x.T / 2**0.5)
    np.testing.assert_allclose(strength, p[i, j])
    np.testing.assert_allclose(p.sum() - strength.sum() - p.trace(), p[p <= 1e-4].sum(), atol=1e-12)


BAD = [
    ("local", {"window": 51}, "does not fit 50 tokens"),
    ("overlapping", {"window": 64}, "does not fit 50 tokens"),
    ("overlapping", {"window": 7}, "odd"),
    ("shifted", {"window": 0}, "choose 1 to 50"),
    ("longformer", {"window": 8, "global_tokens": [50]}, "out of range for 50 tokens"),
    ("longformer", {"window": 8, "global_tokens": [-51]}, "out of range"),
    ("bigbird", {"window": 8, "global_tokens": [0], "random_keys": 51}, "random_keys"),
    ("strided", {"window": 8, "stride": 0}, "stride"),
    ("dilated", {"window": 8, "dilation": 0}, "dilation"),
    ("linformer", {"rank": 51}, "rank"),
    ("performer", {"features": 0}, "feature"),
    ("sinkhorn", {"rounds": 0}, "round"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD)
def test_impossible_parameters_are_refused_in_one_line(name, parameters, message):
    with pytest.raises(UserError, match=message) as refusal:
        iterate(torch.from_numpy(cloud(50)), by_pattern(name, **parameters), iterations=1)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("longfomer", {}, "did you mean 'longformer'"),
        ("local", {"windw": 3}, "did you mean 'window'"),
        ("local", {}, "needs the parameter 'window'"),
        ("global", {"window": 3}, "takes none"),
    ],
)
def test_misspelt_patterns_and_parameters_are_refused(name, parameters, message):
    with pytest.raises(UserError, match=message):
        check_parameters(name, parameters)


def test_two_tokens_and_unknown_standardisation_are_refused():
    with pytest.raises(UserError, match="at least 3 tokens"):
        iterate(torch.zeros(2, 3), by_pattern("global"), iterations=1)
    with pytest.raises(UserError, match="feature, token, scalar"):
        standardise(torch.zeros(4, 3), axis="row")
