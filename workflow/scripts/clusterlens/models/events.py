"""Linear and convolutional layers that compute only where there are spikes.

Most inputs of a spiking model are zero, and a layer's output is a sum over those that are not. While training on a
CPU, that sum and the weight gradient take the entries one by one when there are few enough of them; otherwise, and on
any other device, the matrix product does the work. The two differ in the order of summation only.
"""

import torch
from torch import nn

from clusterlens.models.kernel_source import KERNELS

# Measured: with a smaller share of entries that are not zero, going through them beats the matrix product.
FORWARD, BACKWARD, CONVOLUTION = 0.25, 0.2, 0.15
SMALL = 10**7  # multiplications; below that the matrix product is done before the entries are sorted out


def linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:  # (R, K) -> (R, N)
    if not worthwhile(layer, x):
        return layer(x)
    return EventLinear.apply(x.contiguous(), layer.weight, layer.bias)


def convolution(layer: nn.Conv2d, x: torch.Tensor) -> torch.Tensor:  # (B, K, H, W) -> (B, N, H, W), channels last
    """3 x 3, padded by 1, without bias: a linear layer on the nine neighbours of each position."""
    rows = x.detach().permute(0, 2, 3, 1).reshape(-1, x.shape[1])
    entries = find(rows, CONVOLUTION) if worthwhile(layer, rows) else None
    return layer(x) if entries is None else EventConvolution.apply(x, layer.weight, *entries)


def worthwhile(layer: nn.Module, rows: torch.Tensor) -> bool:
    return layer.training and KERNELS.usable(rows) and len(rows) * layer.weight.numel() > SMALL


def product(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """a (R, K) times the transpose of weight (N, K): in single precision as a 1 x 1 convolution, which is faster."""
    if a.dtype != torch.float32:
        return nn.functional.linear(a, weight, bias)
    picture = a.view(1, len(a), 1, -1).permute(0, 3, 1, 2)
    y = nn.functional.conv2d(picture, weight.contiguous()[:, :, None, None], bias)
    return y.permute(0, 2, 3, 1).reshape(len(a), -1)


def find(x: torch.Tensor, limit: float) -> tuple[torch.Tensor, ...] | None:
    """Start of each row's entries, their columns and their values; None if more than the share `limit` is not zero."""
    counts = x.new_empty(len(x), dtype=torch.int64)
    KERNELS.call("count", x.dtype, x, *x.shape, counts)
    start = starts(counts)
    entries = int(start[-1])
    if entries > limit * x.numel():
        return None
    column, value = x.new_empty(entries, dtype=torch.int32), x.new_empty(entries)
    KERNELS.call("compress", x.dtype, x, *x.shape, start, column, value)
    return start, column, value


def starts(counts: torch.Tensor) -> torch.Tensor:
    return nn.functional.pad(counts.cumsum(0), (1, 0))


def gather(entries: tuple[torch.Tensor, ...], weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    rows, N = len(entries[0]) - 1, weight.shape[1]
    y = weight.new_empty(rows, N)
    KERNELS.call("gather", y.dtype, *entries, weight, bias, y, rows, N)
    return y


def scatter(entries: tuple[torch.Tensor, ...], dy: torch.Tensor, inputs: int) -> torch.Tensor:
    d_weight = dy.new_zeros(inputs, dy.shape[1])
    KERNELS.call("scatter", dy.dtype, *entries, dy, d_weight, *dy.shape)
    return d_weight


class EventLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        entries = find(x, FORWARD)
        ctx.sparse = entries is not None and len(entries[1]) < BACKWARD * x.numel()
        ctx.save_for_backward(weight, *(entries if ctx.sparse else (x,)))
        return product(x, weight, bias) if entries is None else gather(entries, weight.t().contiguous(), bias)

    @staticmethod
    def backward(ctx, dy):
        weight, *saved = ctx.saved_tensors
        dy = dy.contiguous()
        d_weight = scatter(saved, dy, weight.shape[1]).t().contiguous() if ctx.sparse else dy.t() @ saved[0]
        dx = product(dy, weight.t()) if ctx.needs_input_grad[0] else None
        return dx, d_weight, dy.sum(0)


class EventConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, start, column, value):
        B, K, H, W = x.shape
        counts = torch.empty_like(start[1:])
        none = (None, None, None)
        KERNELS.call("neighbours", x.dtype, start, None, None, B, H, W, K, counts, *none)
        around = starts(counts)
        columns, values = column.new_empty(int(around[-1])), value.new_empty(int(around[-1]))
        KERNELS.call("neighbours", x.dtype, start, column, value, B, H, W, K, None, around, columns, values)
        ctx.save_for_backward(weight, around, columns, values)
        ctx.shape = x.shape
        matrix = weight.permute(2, 3, 1, 0).reshape(9 * K, -1).contiguous()  # (neighbours and channels, N)
        y = gather((around, columns, values), matrix, matrix.new_zeros(len(weight)))
        return y.view(B, H, W, -1).permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx, dy):
        weight, *entries = ctx.saved_tensors
        B, K, H, W = ctx.shape
        rows = dy.permute(0, 2, 3, 1).reshape(B * H * W, -1).contiguous()
        d_weight = scatter(entries, rows, 9 * K).view(3, 3, K, -1).permute(3, 2, 0, 1)
        dx = nn.grad.conv2d_input(ctx.shape, weight, dy, padding=1) if ctx.needs_input_grad[0] else None
        return dx, d_weight.contiguous(memory_format=torch.channels_last), None, None, None
