"""Dropout that on a CPU takes 16 random bits per element, where torch's draws a float, and keeps one byte."""

import math

import torch
from torch import Tensor, nn

LEVELS = 2**16


def dropped(shape: torch.Size, probability: float) -> Tensor:
    """Which elements are dropped, bool on the CPU; the probability is rounded to 16 bits."""
    count = math.prod(shape)
    words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
    return words.view(torch.int16)[:count].view(shape) < round(probability * LEVELS) - LEVELS // 2


class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, probability: float) -> Tensor:
        ctx.gain, gone = 1 / (1 - probability), dropped(x.shape, probability)
        ctx.save_for_backward(gone)
        return x.masked_fill(gone, 0.0).mul_(ctx.gain)

    @staticmethod
    def backward(ctx, *grads: Tensor):
        (gone,) = ctx.saved_tensors
        return grads[0].masked_fill(gone, 0.0).mul_(ctx.gain), None


class Dropout(nn.Dropout):
    """x_i / (1 − p) with probability 1 − p, else 0, in training."""

    def forward(self, x: Tensor) -> Tensor:
        fast = self.training and self.p > 0 and x.device.type == "cpu"
        return Drop.apply(x, self.p) if fast else super().forward(x)
