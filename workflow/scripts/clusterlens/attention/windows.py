"""Patterns in which a token sees a window of its neighbours only."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from clusterlens.attention.blocks import banded, check_window, partitioned
from clusterlens.errors import UserError


def local(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int) -> Tensor:
    """Windows side by side, A §3.2. Mask: ⌊i/w⌋ = ⌊j/w⌋. Pairs n·w."""
    check_window(window, query.shape[-2], even=False)
    return partitioned(query, key, value, scale=scale, window=window, first=0)


def shifted(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int, iteration: int = 0) -> Tensor:
    """Swin's windows (Liu et al. 2021) on a line: every other iteration the windows move by half their width.

    Mask: ⌊(i + s)/w⌋ = ⌊(j + s)/w⌋ with s = 0 in iterations 0, 2, 4, … and s = w/2 in 1, 3, 5, …; as in Swin, the half
    windows at the two ends do not see each other. Pairs n·w.
    """
    check_window(window, query.shape[-2], even=True)
    first = window // 2 if iteration % 2 else 0
    return partitioned(query, key, value, scale=scale, window=window, first=first)


def overlapping(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int) -> Tensor:
    """A window around each token. Mask: |i − j| ≤ w/2. Pairs n·(w + 1), fewer at the ends."""
    check_window(window, query.shape[-2], even=True)
    return banded(query, key, value, scale=scale, half=window // 2)


def dilated(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int, dilation: int = 2) -> Tensor:
    """A window with gaps (Beltagy et al. 2020). Mask: |i − j| ≤ r·w/2 and r divides i − j. Pairs n·(w + 1) at most.

    The tokens of one residue class modulo r see a plain window among themselves, so each class is one row of a batch.
    """
    n = query.shape[-2]
    check_window(window, n, even=True)
    if not 1 <= dilation <= n:
        raise UserError(f"dilation {dilation} does not fit {n} tokens: choose 1 to {n}")
    tail = -n % dilation
    classes = [pad(t, (0, 0, 0, tail)).unflatten(-2, (-1, dilation)).transpose(-2, -3) for t in (query, key, value)]
    position = torch.arange(n + tail, device=query.device).unflatten(0, (-1, dilation)).T  # (r, n/r)
    out = banded(*classes, scale=scale, half=window // 2, dropped=(position >= n).expand(classes[0].shape[:-1]))
    return out.transpose(-2, -3).flatten(-3, -2)[..., :n, :]
