"""Layers that compute only where there are spikes, against the matrix product."""

import pytest
import torch
from torch import nn

from clusterlens.models import events
from clusterlens.models.kernel_source import KERNELS

pytestmark = pytest.mark.skipif(KERNELS.handle is None, reason="no C compiler")


@pytest.fixture
def always(monkeypatch):
    """Take the event path for every size."""
    monkeypatch.setattr(events, "SMALL", 0)


@pytest.mark.parametrize("density", [0.0, 0.05, 0.22, 0.3])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(37, 20, 64), (130, 65, 90), (5, 8, 3)])
def test_same_output_and_gradients_as_the_matrix_product(rows, inputs, outputs, density, always):
    torch.manual_seed(0)
    layer = nn.Linear(inputs, outputs).double()
    spikes = (torch.rand(rows, inputs) < density).double() * torch.randint(1, 4, (rows, inputs))
    upstream = torch.randn(rows, outputs, dtype=torch.float64)
    results = []
    for path in (layer, lambda x: events.linear(layer, x)):
        x = spikes.clone().requires_grad_()
        layer.zero_grad()
        y = path(x)
        y.backward(upstream)
        results.append((y, x.grad, layer.weight.grad.clone(), layer.bias.grad.clone()))
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)


def test_paths_are_chosen_by_the_share_of_spikes(always, monkeypatch):
    layer, used, compute = nn.Linear(10, 4), [], events.gather
    monkeypatch.setattr(events, "gather", lambda *arguments: used.append(1) or compute(*arguments))
    many, few = torch.ones(6, 10), torch.eye(6, 10)
    torch.testing.assert_close(events.linear(layer, many), layer(many))
    assert used == []
    torch.testing.assert_close(events.linear(layer, few), layer(few))
    assert used == [1]
    layer.eval()
    events.linear(layer, few)
    assert used == [1]


def test_result_does_not_depend_on_the_number_of_threads(always):
    torch.manual_seed(1)
    before = torch.get_num_threads()
    layer, spikes = nn.Linear(70, 100), (torch.rand(90, 70) < 0.1).float()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            layer.zero_grad()
            y = events.linear(layer, spikes)
            y.square().sum().backward()
            results.append((y, layer.weight.grad.clone()))
    finally:
        torch.set_num_threads(before)
    for y, gradient in results[1:]:
        assert torch.equal(y, results[0][0])
        assert torch.equal(gradient, results[0][1])


@pytest.mark.parametrize("density", [0.0, 0.1, 0.14])
@pytest.mark.parametrize(("inputs", "outputs", "height", "width"), [(5, 40, 6, 4), (3, 70, 3, 5), (8, 3, 1, 1)])
def test_convolution_is_torchs(inputs, outputs, height, width, density, always, monkeypatch):
    torch.manual_seed(0)
    layer = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False).double().to(memory_format=torch.channels_last)
    spikes = (torch.rand(4, inputs, height, width) < density).double().to(memory_format=torch.channels_last)
    upstream = torch.randn(4, outputs, height, width, dtype=torch.float64)
    monkeypatch.setattr(events, "CONVOLUTION", 1.0)
    used, compute = [], events.gather
    monkeypatch.setattr(events, "gather", lambda *arguments: used.append(1) or compute(*arguments))
    results = []
    for path in (layer, lambda x: events.convolution(layer, x)):
        x = spikes.clone().requires_grad_()
        layer.zero_grad()
        y = path(x)
        y.backward(upstream)
        results.append((y, x.grad, layer.weight.grad.clone()))
    assert used == [1]
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
