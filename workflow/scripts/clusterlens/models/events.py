"""Linear and convolutional layers that compute only where there are spikes.

Most inputs of a spiking model are zero, and a layer's output is a sum over those that are not. While training on a
CPU, that sum and the weight gradient take the entries one by one where there are few enough of them; elsewhere, and on
any other device, the matrix product does the work. The two differ in the order of summation only. Each stretch of rows
is decided on its own, since time steps differ: rows are ordered by time, and in the first steps hardly a neuron fires.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from clusterlens.models import event_limits
from clusterlens.native import Library

STRETCHES = 16
SMALL = 10**8  # multiplications; below that the matrix product is done before the entries are sorted out
TRIAL, REPEATS = 4096, 5  # rows, and how often they are timed, to find out from which share on the matrix product wins
KERNELS = Library(
    Path(__file__).with_name("events.c"),
    flags=("-ffp-contract=off", "-fno-tree-pre"),
    otherwise="spikes go through matrix products",
)

Entries = tuple[torch.Tensor, ...]  # start of each row's entries, their columns along a picture's line, their values
Picture = tuple[int, int, int, int]  # lines, positions per line, columns per position, how far a layer reaches
Stretches = list[tuple[int, int]]  # first row and the one behind the last


def linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:  # (R, K) -> (R, N)
    if layer.bias is None or not worthwhile(layer, x):
        return layer(x)
    x = x.contiguous()
    return EventLinear.apply(x, layer.weight, layer.bias, limit_of(layer, x, EventLinear.apply))


def convolution(layer: nn.Conv2d, x: torch.Tensor) -> torch.Tensor:  # (B, K, H, W) -> (B, N, H, W), channels last
    """3 x 3, padded by 1, without bias: a linear layer on the nine neighbours of each position."""
    if layer.bias is not None or not worthwhile(layer, x):
        return layer(x)
    return convolve(x, layer.weight, None, limit_of(layer, x, convolve))


def convolve(x: torch.Tensor, weight: torch.Tensor, bias: None, limit: float) -> torch.Tensor:
    _, K, H, W = x.shape
    rows = x.detach().permute(0, 2, 3, 1).reshape(-1, K)
    entries, dense = find(rows, limit, height=H, width=W)
    if dense == [(0, len(rows))]:
        return nn.functional.conv2d(x, weight, padding=1)
    return EventConvolution.apply(x, weight, [(a // (H * W), b // (H * W)) for a, b in dense], *entries)


def limit_of(layer: nn.Module, x: torch.Tensor, way: Callable[..., torch.Tensor]) -> float:
    """The largest share of entries that are not zero at which going through them beats the matrix product."""
    N, K = layer.weight.shape[:2]
    name = " ".join(map(str, (type(layer).__name__, K, "to", N, *x.shape[2:], x.dtype)))
    shape = (max(STRETCHES, TRIAL * K // x[0].numel()), *x.shape[1:])
    weight = layer.weight.detach().requires_grad_()

    def wins(share: float) -> bool:
        """As in training: channels differ, and in the first half of the rows, early in time, there are few spikes."""
        random = torch.Generator().manual_seed(0)
        rates = 2 * share * torch.rand((1, *x.shape[1:2], *(1 for _ in x.shape[2:])), generator=random)
        early = torch.arange(shape[0]).view(-1, *(1 for _ in x.shape[1:])) < shape[0] // 2
        spikes = (torch.rand(shape, generator=random) < torch.where(early, rates / 10, rates)).to(x.dtype)
        spikes = spikes.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else spikes
        best = {1.0: math.inf, share / 2: math.inf}  # all of them one by one, the early ones only
        for _ in range(REPEATS):
            for limit in best:
                started = time.perf_counter()
                y = way(spikes, weight, layer.bias, limit)
                torch.autograd.grad(y, weight, torch.ones_like(y))
                best[limit] = min(best[limit], time.perf_counter() - started)
        return best[1.0] < best[share / 2]

    with torch.enable_grad():
        return event_limits.limit(name, KERNELS, wins)


def worthwhile(layer: nn.Module, x: torch.Tensor) -> bool:
    rows = x.numel() // layer.weight.shape[1]
    return layer.training and KERNELS.usable(x) and rows * layer.weight.numel() > SMALL


def product(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """a (R, K) times the transpose of weight (N, K), plus bias: in single precision a 1 x 1 convolution is faster."""
    if a.dtype != torch.float32:
        return nn.functional.linear(a, weight, bias)
    return nn.functional.conv2d(pictures(a), weight[:, :, None, None], bias).permute(0, 2, 3, 1).reshape(len(a), -1)


def weight_product(dy: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The transpose of dy (R, N) times x (R, K): the same convolution's weight gradient."""
    if x.dtype != torch.float32:
        return dy.t() @ x
    shape = (dy.shape[1], x.shape[1], 1, 1)
    return nn.grad.conv2d_weight(pictures(x), shape, pictures(dy))[:, :, 0, 0]


def pictures(rows: torch.Tensor) -> torch.Tensor:
    """(R, C) -> (P, C, R / P, 1), channels last. With 16 or more, torch leaves even one thread's work to oneDNN."""
    return rows.view(math.gcd(len(rows), 64), -1, 1, rows.shape[1]).permute(0, 3, 1, 2)


def find(x: torch.Tensor, limit: float, height: int = 1, width: int = 1) -> tuple[Entries, Stretches]:
    """The entries of x that are not zero, but for stretches of rows where their share is above `limit`, and those.

    Rows are the positions of pictures; a stretch holds whole ones.
    """
    rows, K = x.shape
    unit = height * width
    if limit == 0:
        return (), [(0, rows)]
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
    KERNELS.call("compress", x.dtype, x, rows, K, width, start, column, value)
    return (start, column, value), dense


def starts(counts: torch.Tensor) -> torch.Tensor:
    return nn.functional.pad(counts.cumsum(0), (1, 0))


def gather(entries: Entries, weight: torch.Tensor, bias: torch.Tensor, picture: Picture) -> torch.Tensor:
    rows, N = len(entries[0]) - 1, weight.shape[1]
    y = weight.new_empty(rows, N)
    KERNELS.call("gather", y.dtype, *entries, weight, bias, y, rows, N, *picture)
    return y


def scatter(entries: Entries, dy: torch.Tensor, picture: Picture) -> torch.Tensor:
    _, _, K, reach = picture
    d_weight = dy.new_zeros((2 * reach + 1) ** 2 * K, dy.shape[1])
    KERNELS.call("scatter", dy.dtype, *entries, dy, d_weight, *dy.shape, *picture)
    return d_weight


class EventLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, limit):
        entries, ctx.dense = find(x, limit)
        ctx.save_for_backward(weight, x if ctx.dense else None, *entries)
        if ctx.dense == [(0, len(x))]:
            return product(x, weight, bias)
        y = gather(entries, weight.t().contiguous(), bias, (1, 1, x.shape[1], 0))
        for a, b in ctx.dense:
            y[a:b] = product(x[a:b], weight, bias)
        return y

    @staticmethod
    def backward(ctx, dy):
        weight, x, *entries = ctx.saved_tensors
        dy = dy.contiguous()
        if ctx.dense == [(0, len(dy))]:
            d_weight = weight_product(dy, x)
        else:
            d_weight = scatter(entries, dy, (1, 1, weight.shape[1], 0)).t().contiguous()
            for a, b in ctx.dense:
                d_weight += weight_product(dy[a:b], x[a:b])
        dx = product(dy, weight.t()) if ctx.needs_input_grad[0] else None
        return dx, d_weight, dy.sum(0), None


class EventConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, dense, *entries):
        B, K, H, W = x.shape
        ctx.save_for_backward(weight, x if dense else None, *entries)
        ctx.dense, ctx.shape = dense, x.shape
        matrix = weight.permute(2, 3, 1, 0).reshape(9 * K, -1).contiguous()  # (neighbours and channels, N)
        y = gather(entries, matrix, matrix.new_zeros(len(weight)), (H, W, K, 1))
        y = y.view(B, H, W, -1).permute(0, 3, 1, 2)
        for a, b in dense:
            y[a:b] = nn.functional.conv2d(x[a:b], weight, padding=1)
        return y

    @staticmethod
    def backward(ctx, dy):
        weight, x, *entries = ctx.saved_tensors
        B, K, H, W = ctx.shape
        rows = dy.permute(0, 2, 3, 1).reshape(B * H * W, -1).contiguous()
        d_weight = scatter(entries, rows, (H, W, K, 1)).view(3, 3, K, -1).permute(3, 2, 0, 1)
        d_weight = d_weight.contiguous(memory_format=torch.channels_last)
        for a, b in ctx.dense:
            d_weight += nn.grad.conv2d_weight(x[a:b], weight.shape, dy[a:b], padding=1)
        dx = nn.grad.conv2d_input(ctx.shape, weight, dy, padding=1) if ctx.needs_input_grad[0] else None
        return dx, d_weight, None, None, None, None
