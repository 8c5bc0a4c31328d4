"""The fused neurons against spikingjelly's own, step by step: spikes to the bit, gradients to 1e-5."""

import pytest
import torch
from spikingjelly.activation_based import functional, neuron, surrogate
from torch import nn

from clusterlens.models.neurons import KERNELS, fire, fire_normalised, make_neuron, time_constant

pytestmark = pytest.mark.skipif(KERNELS.handle is None, reason="no C compiler")


def plain(node: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """spikingjelly, one time step after the other, from rest."""
    node.step_mode = "s"
    functional.reset_net(node)
    spikes = torch.stack([node(step) for step in x])
    node.step_mode = "m"
    return spikes


def settings(tau: float, alpha: float = 4.0) -> dict:
    return {"membrane_time_constant": tau, "surrogate_slope": alpha}


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("tau", [1.5, 2.0, 3.7])
@pytest.mark.parametrize("shape", [(4, 5, 3), (1, 7, 64), (6, 3, 2, 130), (4, 33, 48)])
def test_same_spikes_and_gradients_as_spikingjelly(shape, tau, learned):
    torch.manual_seed(0)
    node = make_neuron(settings(tau), threshold=0.7, learned=learned)
    x = (2 * torch.randn(shape)).requires_grad_()
    upstream = torch.randn(shape)
    wanted = plain(node, x)
    wanted.backward(upstream)
    gradients = [x.grad.clone()] + ([node.w.grad.clone()] if learned else [])
    x.grad = None
    node.zero_grad()
    got = fire(node, x)
    got.backward(upstream)
    assert wanted.sum() > 0
    assert torch.equal(got, wanted)
    torch.testing.assert_close(x.grad, gradients[0], rtol=1e-5, atol=1e-6)
    if learned:
        torch.testing.assert_close(node.w.grad, gradients[1], rtol=1e-4, atol=1e-4)


def test_a_potential_exactly_at_the_threshold_fires():
    node = make_neuron(settings(2.0), threshold=1.0, learned=False)
    x = torch.tensor([[2.0, 1.9999999, 0.0]])
    assert fire(node, x).tolist() == [[1.0, 0.0, 0.0]]
    assert torch.equal(fire(node, x), plain(node, x))


def test_far_potentials_have_finite_gradients():
    node = make_neuron(settings(2.0), threshold=1.0, learned=False)
    x = torch.tensor([[-1e4, -50.0, 1e4]]).requires_grad_()
    fire(node, x).sum().backward()
    assert torch.isfinite(x.grad).all()
    assert x.grad[0, 0] == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_potential_that_is_no_number_shows_in_the_gradient(dtype):
    node = make_neuron(settings(2.0), threshold=1.0, learned=False)
    x = torch.tensor([[0.5, torch.nan]], dtype=dtype).requires_grad_()
    fire(node, x).sum().backward()
    assert torch.isnan(x.grad).tolist() == [[False, True]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("learned", "channels", "rows"), [(False, 6, 40), (True, 70, 24), (False, 130, 7)])
def test_normalisation_in_front_of_the_neuron(dtype, learned, channels, rows):
    torch.manual_seed(1)
    T = 3
    norm = nn.BatchNorm1d(channels).to(dtype)
    nn.init.normal_(norm.weight, 1.0, 0.3)
    nn.init.normal_(norm.bias, 0.3, 0.3)
    node = make_neuron(settings(2.0), threshold=0.5, learned=learned).to(dtype)
    y = (3 + 2 * torch.randn(T * rows, channels, dtype=dtype)).requires_grad_()
    upstream = torch.randn_like(y)
    state = {name: value.clone() for name, value in norm.state_dict().items()}
    wanted = plain(node, norm(y).view(T, rows, channels)).flatten(0, 1)
    wanted.backward(upstream)
    parameters = [y, norm.weight, norm.bias] + ([node.w] if learned else [])
    expected = [parameter.grad.clone() for parameter in parameters]
    running = {name: value.clone() for name, value in norm.state_dict().items()}
    for parameter in parameters:
        parameter.grad = None
    norm.load_state_dict(state)
    got = fire_normalised(norm, node, y, T)
    got.backward(upstream)
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-10}[dtype]
    assert (got != wanted).float().mean() < (1e-3 if dtype == torch.float32 else 1e-12)
    for parameter, gradient in zip(parameters, expected, strict=True):
        torch.testing.assert_close(
            parameter.grad, gradient, rtol=tolerance, atol=tolerance * float(gradient.abs().max())
        )
    for name, value in norm.state_dict().items():
        torch.testing.assert_close(value, running[name], rtol=1e-5, atol=1e-6)


def test_results_do_not_depend_on_the_number_of_threads():
    torch.manual_seed(2)
    before = torch.get_num_threads()
    node, norm = make_neuron(settings(2.0), threshold=1.0, learned=False), nn.BatchNorm1d(100)
    y, upstream = torch.randn(4 * 50, 100), torch.randn(4 * 50, 100)
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            leaf = y.clone().requires_grad_()
            spikes = fire_normalised(norm, node, leaf, 4)
            spikes.backward(upstream)
            results.append((spikes, leaf.grad))
    finally:
        torch.set_num_threads(before)
    for spikes, gradient in results[1:]:
        assert torch.equal(spikes, results[0][0])
        assert torch.equal(gradient, results[0][1])


def test_without_a_compiler_spikingjelly_does_the_work(monkeypatch):
    node = make_neuron(settings(2.0), threshold=1.0, learned=False)
    x = 2 * torch.randn(4, 5, 6)
    fused = fire(node, x)
    monkeypatch.setattr(KERNELS, "handle", None)
    assert torch.equal(fire(node, x), fused)
    assert torch.equal(fire(node, x), fused)  # and starts from rest again


def test_time_constants():
    assert time_constant(make_neuron(settings(2.5), threshold=1.0, learned=False)) == 2.5
    assert time_constant(make_neuron(settings(2.5), threshold=1.0, learned=True)) == pytest.approx(2.5)
    assert isinstance(make_neuron(settings(2.0), threshold=1.0, learned=True), neuron.ParametricLIFNode)
    assert make_neuron(settings(2.0, 3.0), threshold=1.0, learned=False).surrogate_function.alpha == 3.0
    assert isinstance(make_neuron(settings(2.0), threshold=1.0, learned=False).surrogate_function, surrogate.Sigmoid)
