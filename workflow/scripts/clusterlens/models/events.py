"""Linear and convolutional layers that compute only where there are spikes.

Most inputs of a spiking model are zero, and a layer's output is a sum over those that are not. While training on a
CPU, that sum and the weight gradient take the entries one by one where there are few enough of them; elsewhere, and on
any other device, the matrix product does the work. The two differ in the order of summation only. Each stretch of rows
is decided on its own, since time steps differ: rows are ordered by time, and in the first steps hardly a neuron fires.
"""

from pathlib import Path

import torch
from torch import nn

from clusterlens.native import Library

# Measured: with a smaller share of entries that are not zero, going through them beats the matrix product.
LINEAR, CONVOLUTION = 0.28, 0.22
STRETCHES = 16
SMALL = 10**8  # multiplications; below that the matrix product is done before the entries are sorted out
KERNELS = Library(
    Path(__file__).with_name("events.c"),
    flags=("-ffp-contract=off", "-fno-tree-pre"),
    otherwise="spikes go through matrix products",
)

Entries = tuple[torch.Tensor, ...]  # start of each row's entries, their columns, their values
Stretches = list[tuple[int, int]]  # first row and the one behind the last


def linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:  # (R, K) -> (R, N)
    if layer.bias is None or not worthwhile(layer, x):
        return layer(x)
    return EventLinear.apply(x.contiguous(), layer.weight, layer.bias)


def convolution(layer: nn.Conv2d, x: torch.Tensor) -> torch.Tensor:  # (B, K, H, W) -> (B, N, H, W), channels last
    """3 x 3, padded by 1, without bias: a linear layer on the nine neighbours of each position."""
    _, K, H, W = x.shape
    rows = x.detach().permute(0, 2, 3, 1).reshape(-1, K)
    if layer.bias is not None or not worthwhile(layer, rows):
        return layer(x)
    entries, dense = find(rows, CONVOLUTION, unit=H * W)
    if dense == [(0, len(rows))]:
        return layer(x)
    return EventConvolution.apply(x, layer.weight, [(a // (H * W), b // (H * W)) for a, b in dense], *entries)


def worthwhile(layer: nn.Module, rows: torch.Tensor) -> bool:
    return layer.training and KERNELS.usable(rows) and len(rows) * layer.weight.numel() > SMALL


def product(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """a (R, K) times the transpose of weight (N, K): in single precision as a 1 x 1 convolution, which is faster."""
    if a.dtype != torch.float32:
        return nn.functional.linear(a, weight, bias)
    picture = a.view(1, len(a), 1, -1).permute(0, 3, 1, 2)
    y = nn.functional.conv2d(picture, weight.contiguous()[:, :, None, None], bias)
    return y.permute(0, 2, 3, 1).reshape(len(a), -1)


def find(x: torch.Tensor, limit: float, unit: int = 1) -> tuple[Entries, Stretches]:
    """The entries of x that are not zero, but for stretches of rows where their share is above `limit`, and those.

    A stretch begins and ends at a multiple of `unit`.
    """
    rows, K = x.shape
    counts = x.new_empty(rows, dtype=torch.int64)
    KERNELS.call("count", x.dtype, x, rows, K, counts)
    dense: Stretches = []
    first = 0
    for part in counts.split(-(-rows // (unit * STRETCHES)) * unit):
        behind = first + len(part)
        if int(part.sum()) > limit * len(part) * K:
            part.zero_()
            dense.append((dense.pop()[0] if dense and dense[-1][1] == first else first, behind))
        first = behind
    start = starts(counts)
    column, value = x.new_empty(int(start[-1]), dtype=torch.int32), x.new_empty(int(start[-1]))
    KERNELS.call("compress", x.dtype, x, rows, K, start, column, value)
    return (start, column, value), dense


def starts(counts: torch.Tensor) -> torch.Tensor:
    return nn.functional.pad(counts.cumsum(0), (1, 0))


def gather(entries: Entries, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    rows, N = len(entries[0]) - 1, weight.shape[1]
    y = weight.new_empty(rows, N)
    KERNELS.call("gather", y.dtype, *entries, weight, bias, y, rows, N)
    return y


def scatter(entries: Entries, dy: torch.Tensor, inputs: int) -> torch.Tensor:
    d_weight = dy.new_zeros(inputs, dy.shape[1])
    KERNELS.call("scatter", dy.dtype, *entries, dy, d_weight, *dy.shape)
    return d_weight


class EventLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        entries, ctx.dense = find(x, LINEAR)
        ctx.save_for_backward(weight, x if ctx.dense else None, *entries)
        if ctx.dense == [(0, len(x))]:
            return product(x, weight, bias)
        y = gather(entries, weight.t().contiguous(), bias)
        for a, b in ctx.dense:
            torch.addmm(bias, x[a:b], weight.t(), out=y[a:b])
        return y

    @staticmethod
    def backward(ctx, dy):
        weight, x, *entries = ctx.saved_tensors
        dy = dy.contiguous()
        if ctx.dense == [(0, len(dy))]:
            d_weight = dy.t() @ x
        else:
            d_weight = scatter(entries, dy, weight.shape[1]).t().contiguous()
            for a, b in ctx.dense:
                d_weight.addmm_(dy[a:b].t(), x[a:b])
        dx = product(dy, weight.t()) if ctx.needs_input_grad[0] else None
        return dx, d_weight, dy.sum(0)


class EventConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, dense, start, column, value):
        B, K, H, W = x.shape
        counts = torch.empty_like(start[1:])
        none = (None, None, None)
        KERNELS.call("neighbours", x.dtype, start, None, None, B, H, W, K, counts, *none)
        around = starts(counts)
        columns, values = column.new_empty(int(around[-1])), value.new_empty(int(around[-1]))
        KERNELS.call("neighbours", x.dtype, start, column, value, B, H, W, K, None, around, columns, values)
        ctx.save_for_backward(weight, x if dense else None, around, columns, values)
        ctx.dense, ctx.shape = dense, x.shape
        matrix = weight.permute(2, 3, 1, 0).reshape(9 * K, -1).contiguous()  # (neighbours and channels, N)
        y = gather((around, columns, values), matrix, matrix.new_zeros(len(weight)))
        y = y.view(B, H, W, -1).permute(0, 3, 1, 2)
        for a, b in dense:
            y[a:b] = nn.functional.conv2d(x[a:b], weight, padding=1)
        return y

    @staticmethod
    def backward(ctx, dy):
        weight, x, *entries = ctx.saved_tensors
        B, K, H, W = ctx.shape
        rows = dy.permute(0, 2, 3, 1).reshape(B * H * W, -1).contiguous()
        d_weight = scatter(entries, rows, 9 * K).view(3, 3, K, -1).permute(3, 2, 0, 1)
        d_weight = d_weight.contiguous(memory_format=torch.channels_last)
        for a, b in ctx.dense:
            d_weight += nn.grad.conv2d_weight(x[a:b], weight.shape, dy[a:b], padding=1)
        dx = nn.grad.conv2d_input(ctx.shape, weight, dy, padding=1) if ctx.needs_input_grad[0] else None
        return dx, d_weight, None, None, None, None
