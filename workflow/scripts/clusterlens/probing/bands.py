"""Longformer's attention, which it keeps as a band and the rows and columns of global tokens, as one n x n map."""

from typing import Any

import torch
from torch import Tensor


def dense_maps(band: Tensor, rows: Any, is_global: Tensor, *, half: int) -> Tensor:
    """The maps (B, H, n, n) of one layer.

    `band` (B, n, H, g + 2·half + 1) holds, for every query, the g global keys and the keys at distances −half to half;
    `rows` (B, H, g, n) the rows of the global tokens, which see all; `is_global` (B, n) says which they are. A text
    with fewer global tokens than another of its batch leaves the last of its g places empty.
    """
    batch, n, heads, width = band.shape
    extra = width - (2 * half + 1)
    maps = band.new_zeros(batch, heads, n, n + 2 * half)
    reach = torch.arange(n, device=band.device)[:, None] + torch.arange(2 * half + 1, device=band.device)
    local = band[..., extra:].transpose(1, 2)  # (B, H, n, 2·half + 1)
    maps.scatter_(-1, reach.expand_as(local), local)
    maps = maps[..., half : half + n]
    for text in range(batch if extra else 0):
        tokens = is_global[text].nonzero()[:, 0]
        maps[text][..., tokens] += band[text, :, :, : len(tokens)].transpose(0, 1)
        maps[text][:, tokens] = rows[text][:, : len(tokens)]
    return maps


def visible(n: int, *, half: int | None, tokens: tuple[int, ...] = ()) -> Tensor:
    """(n, n): whether query i may see key j; all of them without a window."""
    if half is None:
        return torch.ones(n, n, dtype=torch.bool)
    position = torch.arange(n)
    seen = (position[:, None] - position).abs() <= half
    chosen = torch.isin(position, torch.tensor(tokens, dtype=torch.long))
    return seen | chosen | chosen[:, None]
