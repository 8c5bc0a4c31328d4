"""Layers that compute only where there are spikes, against the matrix product."""

import pytest
import torch
from torch import nn

from clusterlens.models import event_limits, events

pytestmark = pytest.mark.skipif(events.KERNELS.handle is None, reason="no C compiler")


@pytest.fixture
def always(monkeypatch):
    """Take the event path for every size, up to the same share of spikes."""
    monkeypatch.setattr(events, "SMALL", 0)
    monkeypatch.setattr(event_limits, "limit", lambda *layer: 0.25)


# Shares of spikes, stretch by stretch of rows: even, none at first, many in between.
DENSITIES = [(0.0,), (0.05,), (0.22,), (0.9,), (0.0, 0.2, 0.1, 0.8), (0.9, 0.1, 0.9, 0.9, 0.0)]


def spikes_of(densities, *shape):
    """Some of 1, 2 and 3 among zeros, the first dimension in stretches of the given shares."""
    torch.manual_seed(0)
    shares = torch.tensor(densities).repeat_interleave(-(-shape[0] // len(densities)))[: shape[0]]
    shares = shares.view(-1, *(1 for _ in shape[1:]))
    return (torch.rand(shape) < shares).double() * torch.randint(1, 4, shape)


def compare(layer, path, spikes):
    """Output and gradients of a layer and of another path through it."""
    results = []
    for way in (layer, path):
        x = spikes.clone().requires_grad_()
        layer.zero_grad()
        y = way(x)
        y.backward(torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1)))
        results.append((y, x.grad, *(parameter.grad.clone() for parameter in layer.parameters())))
    for wanted, got in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("densities", DENSITIES, ids=str)
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(37, 20, 64), (130, 65, 90), (5, 8, 3)])
def test_same_output_and_gradients_as_the_matrix_product(rows, inputs, outputs, densities, always):
    layer = nn.Linear(inputs, outputs).double()
    compare(layer, lambda x: events.linear(layer, x), spikes_of(densities, rows, inputs))


def test_stretches_of_many_spikes_are_left_to_the_matrix_product():
    x = spikes_of((0.0, 0.2, 0.9, 0.9), 64, 50)
    (start, column, value), dense = events.find(x, 0.28)
    assert dense == [(32, 64)]
    rows, columns = x[:32].nonzero(as_tuple=True)
    assert torch.equal(start.diff(), torch.bincount(rows, minlength=64))
    assert torch.equal(column.long(), columns) and torch.equal(value, x[rows, columns])
    assert events.find(x, 0.28, width=32)[1] == [(32, 64)]
    assert events.find(x, 0.28, height=2, width=32)[1] == [(0, 64)]


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


@pytest.mark.parametrize("densities", DENSITIES, ids=str)
@pytest.mark.parametrize(("inputs", "outputs", "height", "width"), [(5, 40, 6, 4), (3, 70, 3, 5), (8, 3, 1, 1)])
def test_convolution_is_torchs(inputs, outputs, height, width, densities, always):
    layer = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False).double().to(memory_format=torch.channels_last)
    spikes = spikes_of(densities, 10, inputs, height, width).to(memory_format=torch.channels_last)
    compare(layer, lambda x: events.convolution(layer, x), spikes)


def test_convolution_takes_the_entries_where_they_are_few(always, monkeypatch):
    used, compute = [], events.gather
    monkeypatch.setattr(events, "gather", lambda *arguments: used.append(1) or compute(*arguments))
    layer = nn.Conv2d(3, 4, 3, padding=1, bias=False)
    for densities, calls in (((0.9,), 0), ((0.0, 0.9), 1), ((0.1,), 2)):
        events.convolution(layer, spikes_of(densities, 8, 3, 20, 20).float())
        assert len(used) == calls


@pytest.mark.parametrize(
    ("layer", "shape", "name"),
    [
        (nn.Linear(24, 8), (4, 24), "Linear 24 to 8 torch.float32"),
        (nn.Conv2d(6, 4, 3, padding=1, bias=False), (2, 6, 5, 7), "Conv2d 6 to 4 5 7 torch.float32"),
    ],
    ids=["linear", "convolution"],
)
def test_the_limit_of_a_layer_is_measured_without_touching_random_numbers(layer, shape, name, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(event_limits, "KNOWN", {})
    monkeypatch.setattr(events, "SMALL", 0)
    monkeypatch.setattr(events, "TRIAL", 64)
    x = spikes_of((0.1,), *shape).float()
    before = torch.get_rng_state()
    (events.linear if x.ndim == 2 else events.convolution)(layer, x)
    assert torch.equal(torch.get_rng_state(), before)
    assert list(event_limits.KNOWN) == [name] and event_limits.KNOWN[name] in (0, *event_limits.SHARES)
    assert all(parameter.grad is None for parameter in layer.parameters())


def test_a_limit_of_zero_leaves_all_to_the_matrix_product(always, monkeypatch):
    monkeypatch.setattr(event_limits, "limit", lambda *layer: 0.0)
    monkeypatch.setattr(events, "gather", lambda *arguments: pytest.fail("went through the entries"))
    layer = nn.Linear(9, 5).double()
    compare(layer, lambda x: events.linear(layer, x), spikes_of((0.05,), 20, 9))
    layer = nn.Conv2d(3, 5, 3, padding=1, bias=False).double()
    compare(layer, lambda x: events.convolution(layer, x), spikes_of((0.05,), 4, 3, 6, 6))


@pytest.mark.parametrize("rows", [1, 24, 37, 128])
def test_products_by_convolution_are_matrix_products(rows):
    torch.manual_seed(0)
    x, dy, weight, bias = (torch.randn(shape) for shape in ((rows, 20), (rows, 9), (9, 20), (9,)))
    torch.testing.assert_close(events.product(x, weight, bias), x @ weight.t() + bias, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(events.weight_product(dy, x), dy.t() @ x, rtol=1e-4, atol=1e-4)
