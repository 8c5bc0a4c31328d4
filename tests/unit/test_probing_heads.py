"""The matrices of the heads against the model's own attention, and spectra and flows against full matrices."""

import numpy as np
import pytest
import torch

from clusterlens.errors import UserError
from clusterlens.particles.settings import Settings
from clusterlens.particles.simulate import simulate
from clusterlens.probing.architectures import parts
from clusterlens.probing.flow import Flow, flow, principal, start
from clusterlens.probing.head_weights import heads_of
from clusterlens.probing.heads import Heads, effective_beta, leading, sum_eigenvalues, value_eigenvalues
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")


def attention_output(model, part, x: torch.Tensor) -> torch.Tensor:
    """What the model's attention adds to the tokens x (n, d), without its biases, dropout and norm."""
    seen = {}
    handle = part.output.register_forward_hook(lambda module, inputs, output: seen.update(out=output))
    with torch.no_grad():
        if model.config.model_type == "longformer":
            mask = torch.zeros(1, len(x))
            flags = {"is_index_masked": mask < 0, "is_index_global_attn": mask > 0, "is_global_attn": False}
            out = part.attention(x[None], attention_mask=mask, **flags)[0]
            seen["out"] = part.output(out)
        else:
            out = part.attention(x[None])[0]
            if model.config.model_type in ("bert", "roberta"):
                part.output(out)
    handle.remove()
    return seen["out"][0]


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_value_and_score_matrices_give_the_models_own_attention(kind):
    model = tiny.model_of(kind, attention_window=16) if kind == "longformer" else tiny.model_of(kind)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if "bias" in name:
                tensor.zero_()
    x = torch.randn(16 if kind == "longformer" else 9, 24)
    for layer in (0, 2):
        heads = heads_of(model, layer)
        total = np.zeros(x.shape)
        for head in range(len(heads)):
            scores = heads.scale * (x.double() @ heads.query[head].T) @ (x.double() @ heads.key[head].T).T
            if kind == "longformer":
                position = torch.arange(len(x))
                scores[(position[:, None] - position).abs() > 8] = -torch.inf
            # sum_m P_m X V_m^T
            total += (scores.softmax(-1) @ x.double() @ heads.value_matrix(head).T).numpy()
        np.testing.assert_allclose(attention_output(model, parts(model)[layer], x).numpy(), total, atol=1e-4)


@pytest.mark.parametrize("kind", ("albert", "t5"))
def test_eigenvalues_of_the_small_product_are_those_of_the_full_matrix(kind):
    heads = heads_of(tiny.model_of(kind), 1)
    found = value_eigenvalues(heads)
    width = heads.query.shape[1]
    assert found.shape == (3, width)
    for head in range(3):
        full = np.linalg.eigvals(heads.value_matrix(head).numpy())
        order = np.argsort(-np.abs(full))
        assert np.abs(full[order[width:]]).max() < 1e-6 * np.abs(full).max()
        remaining = list(full[order[:width]])
        for value in found[head]:
            nearest = int(np.argmin(np.abs(np.array(remaining) - value)))
            assert abs(remaining.pop(nearest) - value) < 1e-8 * np.abs(full).max()
        magnitudes = np.abs(found[head])
        assert (np.diff(magnitudes) <= 1e-9 * magnitudes[0]).all()


def test_leading_eigenvalues_are_the_largest_in_magnitude():
    value = torch.diag(torch.tensor([0.5, -3.0, 1.0, 2.0], dtype=torch.float64))[None]
    heads = Heads(query=value, key=value, value=value, output=torch.eye(4, dtype=torch.float64)[None], scale=0.5)
    np.testing.assert_allclose(leading(value_eigenvalues(heads)), [[-3, 2, 1]])
    turn = torch.tensor([[0.0, -2, 0], [2, 0, 0], [0, 0, 1]], dtype=torch.float64)[None]
    pair = value_eigenvalues(Heads(turn, turn, turn, torch.eye(3, dtype=torch.float64)[None], 1.0))
    np.testing.assert_allclose(pair, [[2j, -2j, 1]], atol=1e-12)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_effective_beta_is_the_norm_of_the_symmetric_part(kind):
    heads = heads_of(tiny.model_of(kind), 0)
    expected = []
    for head in range(3):
        product = heads.scale * heads.query[head].numpy().T @ heads.key[head].numpy()
        expected.append(np.sqrt(24 * (((product + product.T) / 2) ** 2).sum()))
    np.testing.assert_allclose(effective_beta(heads), expected, rtol=1e-10)


def test_scales_are_the_models_own():
    assert heads_of(tiny.model_of("albert")).scale == pytest.approx(8**-0.5)
    assert heads_of(tiny.model_of("t5")).scale == 1


def test_global_rows_of_longformer():
    model = tiny.model_of("longformer")
    local, rows = heads_of(model, 1), heads_of(model, 1, global_rows=True)
    attention = model.encoder.layer[1].attention.self
    torch.testing.assert_close(rows.query.flatten(0, 1), attention.query_global.weight.double())
    assert not torch.allclose(rows.query, local.query)
    with pytest.raises(UserError, match="Longformer"):
        heads_of(tiny.model_of("bert"), 1, global_rows=True)


def test_missing_heads_and_layers_are_refused():
    model = tiny.model_of("albert")
    with pytest.raises(UserError, match="layers 0 to 2"):
        heads_of(model, 3)
    with pytest.raises(UserError, match="heads 0 to 2"):
        heads_of(model).only(3)


@pytest.fixture(scope="module")
def heads():
    return heads_of(tiny.model_of("albert"))


@pytest.mark.parametrize("symmetric", (False, True))
@pytest.mark.parametrize("chosen", ((0,), (0, 1, 2)))
def test_the_flow_through_factors_is_that_of_full_matrices(heads, chosen, symmetric):
    some = heads.only(*chosen)
    x = 0.1 * start(some, 11, seed=0)
    found = flow(some, x, time=1.0, step=0.1, symmetric=symmetric)
    expected = probing.full_flow(some, x.numpy(), step=0.1, steps=10, symmetric=symmetric)
    np.testing.assert_allclose(found.positions[-1].numpy(), expected, rtol=1e-8)
    np.testing.assert_allclose(found.times, np.arange(11) / 10)


@pytest.mark.parametrize("field", ("free", "free_causal", "attention", "causal"))
def test_the_flow_agrees_with_the_particle_engine(field):
    """Where width and head coincide, the engine of few dimensions computes the same."""
    rng = np.random.default_rng(0)
    matrices = {name: rng.standard_normal((3, 3)) for name in ("query", "key", "value")}
    given = {name: {"kind": "given", "entries": matrix.tolist()} for name, matrix in matrices.items()}
    sphere = field in ("attention", "causal")
    settings = Settings(field=field, tokens=7, dimension=3, time=1.0, step=0.05, **given)
    trajectory = simulate(settings)
    tensors = {name: torch.tensor(matrix)[None] for name, matrix in matrices.items()}
    # On the sphere of radius √3 the products are three times those on the unit sphere.
    scale = 1 / 3 if sphere else 1.0
    one = Heads(**tensors, output=torch.eye(3, dtype=torch.float64)[None], scale=scale)
    x = trajectory.positions[0, 0] * (3**0.5 if sphere else 1)
    found = flow(one, x, time=1.0, step=0.05, causal="causal" in field, sphere=sphere)
    expected = trajectory.positions[:, 0] * (3**0.5 if sphere else 1)
    torch.testing.assert_close(found.positions, expected, rtol=1e-9, atol=1e-9)


def test_kept_times_are_every_so_many_the_first_and_the_last(heads):
    x = start(heads, 5, seed=0)
    whole, some = flow(heads, x, time=1.0, sphere=True), flow(heads, x, time=1.0, sphere=True, every=4)
    np.testing.assert_allclose(some.times, [0, 0.4, 0.8, 1.0])
    torch.testing.assert_close(some.positions, whole.positions[[0, 4, 8, 10]])
    torch.testing.assert_close(whole.positions.norm(dim=-1), torch.full((11, 5), 24**0.5, dtype=torch.float64))


def test_the_start_comes_from_the_seed_and_lies_on_the_sphere(heads):
    torch.testing.assert_close(start(heads, 6, seed=3), start(heads, 6, seed=3))
    assert not torch.allclose(start(heads, 6, seed=3), start(heads, 6, seed=4))
    torch.testing.assert_close(start(heads, 6, seed=3).norm(dim=1), torch.full((6,), 24**0.5, dtype=torch.float64))


def test_principal_axes_are_those_of_the_covariance(heads):
    found = flow(heads, start(heads, 8, seed=0), time=1.0, sphere=True)
    points, share = principal(found, 3, same_size=False)
    x = found.positions.numpy().reshape(-1, 24)
    eigenvalues, vectors = np.linalg.eigh(np.cov(x.T))
    np.testing.assert_allclose(share, eigenvalues[::-1][:3] / eigenvalues.sum(), rtol=1e-6)
    expected = (x - x.mean(0)) @ vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(points.reshape(-1, 3)), np.abs(expected), atol=1e-5)


def test_growing_clouds_count_alike_in_their_axes():
    """Early times spread along the first coordinate, the last, a thousand times larger, along the second."""
    x = torch.zeros(5, 6, 4, dtype=torch.float64)
    x[:4, :, 0] = torch.linspace(-1, 1, 6, dtype=torch.float64)
    x[4, :, 1] = torch.linspace(-1000, 1000, 6, dtype=torch.float64)
    grown = Flow(np.arange(5), x)
    first_axis = {same: principal(grown, 1, same_size=same)[0][..., 0] for same in (True, False)}
    assert np.ptp(first_axis[True][0]) > 1 and np.ptp(first_axis[True][4]) < 1e-9
    assert np.ptp(first_axis[False][0]) < 1e-9 and np.ptp(first_axis[False][4]) > 1


def test_impossible_flows_are_refused(heads):
    x = start(heads, 4, seed=0)
    for options, message in (({"step": 0}, "positive"), ({"every": 0}, "positive"), ({"integrator": "magic"}, "magic")):
        with pytest.raises(UserError, match=message):
            flow(heads, x, **options)
    with pytest.raises(UserError, match="do not fit heads of width 24"):
        flow(heads, x[:, :5])
    with pytest.raises(UserError, match="overflows"):
        flow(heads, 1e200 * x, time=100.0)
    with pytest.raises(UserError, match="principal axes"):
        principal(flow(heads, x, time=0.1, sphere=True), 24)


@pytest.mark.parametrize("width", [3, 9])  # fewer and more head rows than dimensions
def test_the_sum_of_heads_has_the_eigenvalues_of_the_full_matrix(width):
    drawn = torch.Generator().manual_seed(0)
    value = torch.randn(2, width, 8, generator=drawn, dtype=torch.float64)
    output = torch.randn(2, 8, width, generator=drawn, dtype=torch.float64)
    heads = Heads(value, value, value, output, scale=1.0)
    full = np.linalg.eigvals((output[0] @ value[0] + output[1] @ value[1]).numpy())
    found = np.sort_complex(np.round(sum_eigenvalues(heads), 9))
    nonzero = np.sort_complex(np.round(full[np.abs(full) > 1e-9], 9))
    np.testing.assert_allclose(found, nonzero)
