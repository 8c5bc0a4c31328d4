"""Every field against its triple loop, and what symmetry, causality and theory demand of the flows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clusterlens.metrics import order
from clusterlens.particles import fields
from clusterlens.particles.fields import VELOCITIES, System
from clusterlens.particles.integrators import extended, projected, rk4, unit
from clusterlens.particles.settings import Settings
from clusterlens.particles.simulate import simulate
from clusterlens.particles.softmax import KERNELS, attend, weights
from clusterlens.particles.theory import boundary, frozen_error, frozen_flow
from reference import particles as reference

RNG = np.random.default_rng(7)
pytestmark = pytest.mark.usefixtures("one_thread")


def system(q=None, k=None, v=None, *, beta=1.3, tau=2.0, threshold=0.4, mlp=None) -> System:
    tensor = [None if part is None else torch.as_tensor(part)[None] for part in (q, k, v, mlp)]
    numbers = [torch.tensor([value], dtype=torch.float64) for value in (beta, tau)]
    return System(
        query=tensor[0],
        key=tensor[1],
        value=tensor[2],
        mlp=tensor[3],
        beta=numbers[0][:, None, None, None],
        steepness=numbers[1][:, None, None],
        threshold=threshold,
    )


def sphere(n, d):
    x = RNG.standard_normal((n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def evaluate(name, x, parts, t=0.0):
    return VELOCITIES[name](t, torch.as_tensor(x)[None], parts)[0].numpy()


@pytest.fixture(params=["compiled", "torch"])
def way(request, monkeypatch):
    """Both ways through attention: the C kernel, and torch where there is no compiler."""
    if request.param == "compiled":
        assert KERNELS.handle is not None, "the kernels did not compile: set-up asks for gcc"
    else:
        monkeypatch.setattr(KERNELS, "handle", None)


@pytest.mark.parametrize(
    ("n", "d", "heads"), [(1, 3, 1), (7, 1, 1), (9, 3, 1), (6, 4, 3), (17, 8, 1), (17, 9, 1), (140, 2, 2)]
)
@pytest.mark.parametrize("name", ["attention", "causal", "free", "free_causal"])
def test_attention_equals_the_triple_loop(name, n, d, heads, way):
    x = sphere(n, d)
    q, k, v = RNG.standard_normal((3, heads, d, d))
    expected = reference.attention(x, q, k, v, 1.3, causal="causal" in name)
    np.testing.assert_allclose(evaluate(name, x, system(q, k, v)), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-14), (torch.float32, 4e-6)])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0, 1e4])
def test_compiled_attention_equals_the_matrix_for_small_and_huge_logits(spread, dtype, tolerance, causal):
    generator = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, 3, 45, 3, generator=generator, dtype=torch.float64) for _ in range(3))
    q, k, v = (spread * q).to(dtype), k.to(dtype), v.to(dtype)
    expected = weights(q.double(), k.double(), causal=causal) @ v.double()
    got = attend(q, k, v, causal=causal)
    # a logit is known to about spread times the rounding of one number, and so is what it weighs
    assert float((got - expected).abs().max()) < tolerance * max(1, 10 * spread)
    if causal:
        torch.testing.assert_close(got[:, :, 0], v[:, :, 0])


def test_attention_shares_what_systems_and_heads_share(way):
    q, k, v = torch.randn(4, 1, 10, 3), torch.randn(1, 2, 10, 3), torch.randn(1, 1, 10, 3)
    expected = torch.softmax(q @ k.mT, -1) @ v
    torch.testing.assert_close(attend(q, k, v), expected, rtol=1e-5, atol=1e-6)


def test_a_row_of_compiled_attention_depends_neither_on_threads_nor_on_its_place():
    q = 0.5 * torch.randn(8, 2, 130, 3, dtype=torch.float64)  # small logits: larger ones are shifted block by block
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = attend(q, q, q)
        torch.set_num_threads(3)
        assert torch.equal(attend(q, q, q), alone)
    finally:
        torch.set_num_threads(before)
    shuffled = torch.randperm(130)
    assert torch.equal(attend(q[:, :, shuffled], q, q), alone[:, :, shuffled])


def test_what_the_kernel_does_not_take_goes_through_torch():
    q, k = torch.randn(2, 1, 3, 3, requires_grad=True), torch.randn(2, 1, 9, 3)
    torch.testing.assert_close(attend(q, k, k), torch.softmax(q @ k.mT, -1) @ k)  # fewer queries than keys
    attend(q, q, q).sum().backward()
    assert q.grad is not None
    with pytest.raises(RuntimeError, match="Double but found Float"):
        attend(k.double(), k, k)


def test_large_values_do_not_overflow_where_torch_does_not():
    q, k, v = torch.full((1, 1, 4, 3), 2.6), torch.full((1, 1, 4, 3), 2.6), torch.full((1, 1, 4, 3), 1e27)
    torch.testing.assert_close(attend(q, k, v), v)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_attention_shows_tokens_that_are_not_finite(bad, way):
    x = torch.randn(1, 1, 20, 3, dtype=torch.float64)
    x[0, 0, 7, 1] = bad
    assert not torch.isfinite(attend(x, x, x)[0, 0]).all(-1).any()


def test_the_identity_is_what_no_matrix_means():
    x, eye = sphere(6, 3), np.eye(3)[None]
    np.testing.assert_allclose(
        evaluate("attention", x, system()), reference.attention(x, eye, eye, eye, 1.3), rtol=1e-12, atol=1e-14
    )


def test_unnormalised_equals_the_triple_loop_across_row_blocks(monkeypatch):
    monkeypatch.setattr("clusterlens.particles.softmax.ROWS", 4)
    x = sphere(11, 3)
    q, k, v = RNG.standard_normal((3, 2, 3, 3))
    expected = reference.unnormalised(x, q, k, v, 1.3)
    np.testing.assert_allclose(evaluate("unnormalised", x, system(q, k, v)), expected, rtol=1e-10)


def test_spiking_fields_equal_the_triple_loop():
    x = sphere(12, 3)
    np.testing.assert_allclose(evaluate("ssa_soft", x, system()), reference.ssa_soft(x, 1.3, 2.0, 0.4), rtol=1e-12)
    for threshold in (0.05, 0.12, 0.3, 1.0):
        got = evaluate("ssa_hard", x, system(threshold=threshold))
        np.testing.assert_allclose(got, reference.ssa_hard(x, 1.3, threshold), atol=1e-15)


def test_hard_spikes_that_are_all_zero_leave_the_token_in_place():
    x = np.array([[-1.0, 0, 0], [0, -1.0, 0]])
    np.testing.assert_array_equal(evaluate("ssa_hard", x, system(threshold=0.1)), x)


@pytest.mark.parametrize("d", [1, 3])
def test_rescaled_fields_equal_the_triple_loop(d):
    z = RNG.uniform(-1, 1, (8, d))
    q, k, v, w = RNG.standard_normal((4, 1, d, d))
    parts = system(q, k, v, beta=1.0, mlp=w)
    np.testing.assert_allclose(
        evaluate("rescaled", z, parts, t=0.7), reference.rescaled(0.7, z, q[0], k[0], v[0]), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        evaluate("rescaled_mlp", z, parts, t=0.7),
        reference.rescaled_mlp(0.7, z, q[0], k[0], v[0], w[0]),
        rtol=1e-9,
        atol=1e-12,
    )


def test_rescaled_with_the_identity_needs_no_matrix():
    z, eye = RNG.uniform(-1, 1, (8, 2)), np.eye(2)[None]
    np.testing.assert_allclose(
        evaluate("rescaled", z, system(beta=1.0), t=0.7),
        evaluate("rescaled", z, system(v=eye, beta=1.0), t=0.7),
        rtol=1e-12,
    )


def test_the_rescaled_flow_is_the_free_flow_seen_in_a_growing_frame():
    common = {"tokens": 10, "dimension": 2, "integrator": "adaptive", "step": 0.25, "time": 1.0, "start": "cube"}
    value = {"kind": "given", "entries": [[0.5, 0.3], [-0.2, 0.1]]}
    z = simulate(Settings(field="rescaled", value=value, **common)).positions[-1, 0]
    x = simulate(Settings(field="free", value=value, **common)).positions[-1, 0]
    growth = torch.linalg.matrix_exp(torch.tensor(value["entries"], dtype=torch.float64))
    torch.testing.assert_close(z @ growth.T, x, rtol=1e-7, atol=1e-8)


def test_tokens_stay_on_the_sphere():
    for field in ("attention", "causal", "unnormalised", "ssa_soft"):
        for integrator in ("euler", "rk4", "adaptive"):
            settings = Settings(
                field=field, integrator=integrator, tokens=12, time=3.0, beta=4.0, value="gaussian", seeds=(1, 2)
            )
            norms = torch.linalg.vector_norm(simulate(settings).positions, dim=-1)
            assert (norms - 1).abs().max() < 1e-12, (field, integrator)


@pytest.mark.parametrize("tokens", [20, 140])
def test_a_causal_token_does_not_feel_later_ones(tokens):
    x = torch.as_tensor(sphere(tokens, 3))[None]
    moved = x.clone()
    moved[:, 12:] = torch.as_tensor(sphere(tokens - 12, 3))
    q, k, v = RNG.standard_normal((3, 2, 3, 3))
    velocity = projected(lambda t, y: fields.causal(t, y, system(q, k, v)))
    for _ in range(30):
        x, moved = unit(x + 0.1 * velocity(0, x)), unit(moved + 0.1 * velocity(0, moved))
    torch.testing.assert_close(x[:, :12], moved[:, :12], rtol=0, atol=1e-13)
    assert (x[:, 12:] - moved[:, 12:]).abs().max() > 0.01


def test_the_first_causal_token_converges_to_the_leading_eigenvector():
    for seed in range(4):
        value = {"kind": "symmetric"}
        run = simulate(Settings(field="causal", tokens=6, time=120.0, value=value, seeds=(seed,), query="gaussian"))
        v = run.system.value[0, 0].numpy()
        leading = np.linalg.eigh(v)[1][:, -1]
        assert abs(run.positions[-1, 0, 0].numpy() @ leading) > 1 - 1e-6


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("field", ["attention", "causal"])
def test_the_identity_value_collapses_all_tokens_for_several_queries_and_keys(field, scale):
    shape = {"kind": "gaussian", "scale": scale}
    settings = Settings(field=field, tokens=8, time=150.0, step=0.2, query=shape, key=shape, seeds=(0, 1, 2, 3))
    final = simulate(settings, every=100).positions[-1].numpy()
    assert order.mean_cosine(final).min() > 0.999


def test_permuted_tokens_take_permuted_paths():
    x = sphere(9, 3)
    q, k, v = RNG.standard_normal((3, 1, 3, 3))
    shuffle = RNG.permutation(9)
    for name in ("attention", "unnormalised", "ssa_soft"):
        straight, shuffled = (evaluate(name, points, system(q, k, v)) for points in (x, x[shuffle]))
        np.testing.assert_allclose(straight[shuffle], shuffled, rtol=1e-12, atol=1e-13)


def test_turned_tokens_take_turned_paths():
    x = sphere(9, 3)
    turn = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    q, k, v = RNG.standard_normal((3, 1, 3, 3))
    turned = system(*(turn @ part @ turn.T for part in (q, k, v)))
    for name in ("attention", "causal", "unnormalised", "free"):
        np.testing.assert_allclose(
            evaluate(name, x, system(q, k, v)) @ turn.T, evaluate(name, x @ turn.T, turned), rtol=1e-11, atol=1e-12
        )


def test_the_interaction_energy_never_falls_when_tokens_attract():
    settings = Settings(field="unnormalised", integrator="rk4", tokens=20, step=0.02, time=2.0, beta=2.0, seeds=(0, 1))
    x = simulate(settings, every=5).positions
    energy = torch.exp(2.0 * x @ x.mT).sum((-1, -2))
    assert (energy.diff(dim=0) > -1e-9).all()


def test_rescaled_tokens_end_at_the_vertices_of_their_hull():
    settings = Settings(field="rescaled", tokens=40, start="cube", start_scale=5.0, time=8.0, seeds=tuple(range(5)))
    final = simulate(settings).positions[-1].numpy()
    corners = [points[order.hull_vertices(points)] for points in final]
    assert order.vertex_distance(final, corners).max() < 1e-3
    assert order.count(order.place_labels(final)).max() <= 14


def test_the_rank_of_attention_tends_to_the_number_of_leaders():
    settings = Settings(field="rescaled", tokens=40, dimension=1, start="cube", time=11.0, seeds=tuple(range(6)))
    run = simulate(settings)
    p = fields.attention_matrix(run.field, 11.0, run.positions[-1], run.system)[:, 0].numpy()
    leaders = [len(np.unique(matrix.argmax(1))) for matrix in p]
    np.testing.assert_array_equal(order.matrix_rank(p), leaders)
    assert order.boolean_distance(p).max() < 1e-6
    np.testing.assert_allclose(p.sum(-1), 1)


def test_orthogonal_tokens_follow_the_curve_of_the_theory():
    n, beta = 12, 3.0
    x, t, step = torch.eye(n, dtype=torch.float64)[None], 0.0, 0.01
    velocity = extended(lambda time, y: fields.attention(time, y, system(beta=beta)))
    while order.mean_cosine(x.numpy())[0] < 0.999:
        x, t = unit(rk4(velocity, t, x, step)), t + step
    assert boundary(np.array([beta]), n=n)[0] == pytest.approx(t, abs=2 * step)


def test_the_theory_calls_late_merging_infinite():
    assert np.isinf(boundary(np.array([9.0]), n=32, end=5.0)).all()


def test_the_frozen_flow_is_the_linear_flow():
    n, d, heads = 5, 2, 3
    x, p = RNG.standard_normal((n, d)), RNG.uniform(size=(heads, n, n))
    v = RNG.standard_normal((heads, d, d)) * 0.3
    times = np.linspace(0, 1, 1001)
    states = frozen_flow(times, x, p, v)
    slope = sum(weights @ states[500] @ matrix.T for weights, matrix in zip(p, v, strict=True))
    np.testing.assert_allclose((states[501] - states[499]) / 0.002, slope, rtol=1e-5)


def test_the_frozen_prediction_is_exact_for_uniform_attention():
    settings = Settings(
        field="free", integrator="rk4", tokens=6, dimension=2, time=1.0, start="cube", beta=0.0, value="gaussian"
    )
    run = simulate(settings)
    p = fields.attention_matrix(run.field, 0.0, run.positions[0], run.system).numpy()
    assert frozen_error(run.times, run.positions.numpy(), p, run.system.value.numpy()).max() < 1e-4
    bent = simulate(replace(settings, beta=3.0))
    p = fields.attention_matrix(bent.field, 0.0, bent.positions[0], bent.system).numpy()
    assert frozen_error(bent.times, bent.positions.numpy(), p, bent.system.value.numpy())[-1].min() > 1e-2
