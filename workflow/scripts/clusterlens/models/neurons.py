"""Spiking neurons over all time steps at once: spikingjelly's LIF and parametric LIF, with a fused path on the CPU.

The fused path gives the same spikes to the bit and the same gradients up to rounding. It keeps only the input and runs
the neuron again on the way back, so it needs less memory too. Where it cannot be used (GPU, no compiler),
spikingjelly's own kernels do the work. State lives inside one call only: `fire` resets the neuron before it starts.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from spikingjelly.activation_based import functional, neuron, surrogate
from torch import nn

from clusterlens.native import Library

DIVIDE, MULTIPLY, LEARN = range(3)  # what a kernel does with the rate, as in neurons.c
KERNELS = Library(
    Path(__file__).with_name("neurons.c"),
    flags=("-ffp-contract=off", "-fno-tree-pre"),
    otherwise="neurons run on spikingjelly's own code",
)


class SpikeCounter:
    """How many of the neurons fired, summed over the calls while it was active."""

    active: "SpikeCounter | None" = None

    def __init__(self):
        self.fired, self.neurons = 0.0, 0

    def add(self, spikes: torch.Tensor) -> None:
        self.fired += float(spikes.sum(dtype=torch.float32))
        self.neurons += spikes.numel()

    def rate(self) -> float | None:
        """Mean spikes per neuron and time step; None when no neuron was driven."""
        return self.fired / self.neurons if self.neurons else None


@contextmanager
def count_spikes() -> Iterator[SpikeCounter]:
    """Count the spikes of every neuron driven by `fire` inside the block."""
    SpikeCounter.active = counter = SpikeCounter()
    try:
        yield counter
    finally:
        SpikeCounter.active = None


def make_neuron(architecture: dict, *, threshold: float, learned: bool) -> nn.Module:
    """A LIF neuron, or one that learns its membrane time constant (1 / tau = sigmoid(w), one w per layer)."""
    shared = {
        "v_threshold": float(threshold),
        "detach_reset": True,
        "surrogate_function": surrogate.Sigmoid(alpha=float(architecture["surrogate_slope"])),
        "step_mode": "m",
    }
    tau = float(architecture["membrane_time_constant"])
    return neuron.ParametricLIFNode(init_tau=tau, **shared) if learned else neuron.LIFNode(tau=tau, **shared)


def time_constant(node: nn.Module) -> float:
    """The membrane time constant tau in effect."""
    return float(1 / node.w.detach().sigmoid()) if isinstance(node, neuron.ParametricLIFNode) else node.tau


def time_constants(model: nn.Module) -> list[dict]:
    """Every neuron's time constant: its layer (0 before the first block), its place in the layer, and tau."""
    places = []
    for name, module in model.named_modules():
        if isinstance(module, neuron.LIFNode | neuron.ParametricLIFNode):
            _, layer, place = name.split(".", 2) if name.startswith("blocks.") else ("", "-1", name)
            places.append({"layer": int(layer) + 1, "neuron": place, "tau": time_constant(module)})
    return places


def fire(node: nn.Module, x: torch.Tensor) -> torch.Tensor:  # (T, ..., C) -> (T, ..., C)
    """Drive a neuron from rest with an input sequence; spikes are 0 or 1 in the type of the input."""
    if KERNELS.usable(x):
        spikes = FusedNeuron.apply(x.contiguous(), *rate_of(node), node.v_threshold, node.surrogate_function.alpha)
    else:
        functional.reset_net(node)
        spikes = node(x)
    if SpikeCounter.active is not None:
        SpikeCounter.active.add(spikes)
    return spikes


def fire_normalised(norm: nn.BatchNorm1d, node: nn.Module, y: torch.Tensor, time_steps: int) -> torch.Tensor:
    """Batch normalisation and then a neuron, (T * M, C) -> (T * M, C), in one go while training on a CPU."""
    if len(y) % time_steps or not (norm.training and KERNELS.usable(y)):
        return fire(node, norm(y).unflatten(0, (time_steps, -1))).flatten(0, 1)
    norm.num_batches_tracked.add_(1)
    return FusedNormNeuron.apply(
        y.contiguous(), norm.weight, norm.bias, norm, time_steps, *rate_of(node), node.v_threshold,
        node.surrogate_function.alpha,
    )  # fmt: skip


def rate_of(node: nn.Module) -> tuple[torch.Tensor | None, int, float]:
    """How a step charges the membrane: (learned 1 / tau or None, the kernel's mode, its number)."""
    if isinstance(node, neuron.ParametricLIFNode):
        rate = node.w.sigmoid()
        return rate, LEARN, float(rate.detach())
    if math.frexp(node.tau)[0] == 0.5:  # a power of two: multiplying by its inverse rounds alike, and is faster
        return None, MULTIPLY, 1 / node.tau
    return None, DIVIDE, node.tau


def widen(M: int, C: int) -> int:
    """How many rows of few channels to lay side by side, so that the kernels' inner loops are long enough."""
    fold = 1
    while C * fold < 64 and M % (2 * fold) == 0:
        fold *= 2
    return fold


class FusedNeuron(torch.autograd.Function):
    """H[t] = V[t-1] + (X[t] - V[t-1]) / tau, S[t] = [H[t] >= threshold], V[t] = (1 - S[t]) H[t]."""

    @staticmethod
    def forward(ctx, x, learned_rate, mode, rate, threshold, alpha):
        T, C = x.shape[0], x.shape[-1]
        M = x.numel() // (T * C)
        fold = widen(M, C)
        ctx.sizes = (T, M // fold, fold * C)
        ctx.settings, ctx.alpha = (mode, rate, threshold), alpha
        spikes = torch.empty_like(x)
        KERNELS.call("spikes", x.dtype, x, None, None, spikes, *ctx.sizes, *ctx.settings)
        ctx.save_for_backward(x)
        return spikes

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        dx = torch.empty_like(x)
        sums = x.new_empty(3, ctx.sizes[2], dtype=torch.float64)
        arguments = (None, None, None, None, grad.contiguous(), dx, *ctx.sizes, *ctx.settings, ctx.alpha, *sums)
        KERNELS.call("gradient", x.dtype, x, *arguments)
        d_rate = sums[2].sum().to(x.dtype) if ctx.needs_input_grad[1] else None
        return dx, d_rate, None, None, None, None


class FusedNormNeuron(torch.autograd.Function):
    """The same behind batch normalisation in training mode, which also updates the running statistics."""

    @staticmethod
    def forward(ctx, y, weight, bias, norm, time_steps, learned_rate, mode, rate, threshold, alpha):
        rows, C = y.shape
        fold = widen(rows // time_steps, C)
        ctx.sizes = (time_steps, rows // time_steps // fold, fold * C, fold)
        ctx.settings, ctx.alpha = (mode, rate, threshold), alpha
        moments = y.new_empty(2 * fold * C, dtype=torch.float64)
        factors, spikes = y.new_empty(4 * fold * C), torch.empty_like(y)
        running = (norm.running_mean, norm.running_var)
        arguments = (weight, bias, *running, moments, factors, spikes, *ctx.sizes, norm.eps, norm.momentum)
        KERNELS.call("forward", y.dtype, y, *arguments, *ctx.settings)
        ctx.save_for_backward(y, factors)
        return spikes

    @staticmethod
    def backward(ctx, grad):
        y, factors = ctx.saved_tensors
        columns, C = ctx.sizes[2], y.shape[1]
        dy = torch.empty_like(y)
        sums = y.new_empty(3, columns, dtype=torch.float64)
        out = y.new_empty(2 * C + 2 * columns)
        arguments = (factors, grad.contiguous(), dy, sums, out, *ctx.sizes, *ctx.settings, ctx.alpha)
        KERNELS.call("backward", y.dtype, y, *arguments)
        d_rate = sums[2].sum().to(y.dtype) if ctx.needs_input_grad[5] else None
        return dy, out[C : 2 * C], out[:C], None, None, d_rate, None, None, None, None
