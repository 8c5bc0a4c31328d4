"""Softmax attention in blocks: the one kernel call that every windowed pattern is made of, O(n·w) in time and memory.

Shapes: `query`, `key`, `value` are (..., n, d) with any leading axes (batch, heads, residue classes).
"""

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from clusterlens.errors import UserError

BLOCK = 64
HIDDEN = -1e30


def softmax_attention(query: Tensor, key: Tensor, value: Tensor, *, scale: float, mask=None, causal=False) -> Tensor:
    """softmax(scale · Q K^T) V, the leading axes folded so that the kernel without an n² matrix is taken."""
    leading = query.shape[:-2]
    q, k, v = (tensor.reshape(-1, 1, *tensor.shape[-2:]) for tensor in (query, key, value))
    out = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale)
    return out.reshape(*leading, *out.shape[-2:])


def check_window(window: int, n: int, *, even: bool) -> None:
    """Refuse a window that no token has, or one that has no middle."""
    if not 1 <= window <= n:
        raise UserError(
            f"window {window} does not fit {n} tokens: choose 1 to {n} (a window of all tokens is 'global')"
        )
    if even and window % 2:
        raise UserError(
            f"window {window} is odd, but half of it lies on each side: use {window - 1 or 2} or {window + 1}"
        )


def check_tokens(tokens: list[int], n: int) -> list[int]:
    """Positions of global tokens as sorted distinct indices; negative ones count from the end."""
    for token in tokens:
        if not -n <= token < n:
            raise UserError(
                f"global token {token} is out of range for {n} tokens: choose {-n} to {n - 1} (-1 is the last)"
            )
    return sorted({token % n for token in tokens})


def partitioned(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int, first: int) -> Tensor:
    """Attention within the parts [0, first), [first, first + window), ...; no token sees beyond its part."""
    n = query.shape[-2]
    last = first + (n - first) // window * window
    pieces = []
    if first:
        pieces.append(softmax_attention(*(t[..., :first, :] for t in (query, key, value)), scale=scale))
    if last > first:
        parts = (t[..., first:last, :].unflatten(-2, (-1, window)) for t in (query, key, value))
        pieces.append(softmax_attention(*parts, scale=scale).flatten(-3, -2))
    if last < n:
        pieces.append(softmax_attention(*(t[..., last:, :] for t in (query, key, value)), scale=scale))
    return torch.cat(pieces, dim=-2)


def banded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    half: int,
    dropped: Tensor | None = None,
    extra: Tensor | None = None,
) -> Tensor:
    """Softmax over the keys j with |i − j| ≤ half, less those `dropped`, and over the `extra` keys of i's block.

    `dropped` (..., n) marks keys that the window leaves out. `extra` (blocks, e) holds positions of further keys for
    each block of `block_length(half)` queries, −1 for none. Keys that do not count are hidden by one more coordinate,
    1 in every query and a large negative number in such keys, so that one mask (block, keys), a function of i − j,
    serves all blocks.
    """
    n, d = query.shape[-2:]
    block = block_length(half)
    blocks = -(-n // block)
    tail = blocks * block - n
    q = pad(query, (0, 0, 0, tail)).unflatten(-2, (blocks, block))  # (..., blocks, block, d)
    q = pad(q, (0, 1), value=1.0)
    hidden = torch.zeros(key.shape[:-1], dtype=key.dtype, device=key.device)
    if dropped is not None:
        hidden = hidden.masked_fill(dropped, HIDDEN / scale)
    beyond = (half, half + tail)
    bias = pad(hidden, beyond, value=HIDDEN / scale)[..., None]
    k = torch.cat([pad(key, (0, 0, *beyond)), bias], dim=-1)  # (..., half + n + tail + half, d + 1)
    v = pad(value, (0, 1, *beyond))
    reach = block + 2 * half
    k, v = (t.unfold(-2, reach, block).transpose(-1, -2) for t in (k, v))  # (..., blocks, reach, d + 1)
    row, column = torch.arange(block, device=key.device)[:, None], torch.arange(reach, device=key.device)
    mask = (column - half - row).abs() <= half  # (block, reach)
    if extra is not None:
        found = extra.clamp(min=0)
        absent = torch.where(extra < 0, HIDDEN / scale, 0.0).to(key.dtype)[..., None]  # (blocks, e, 1)
        further_key = key[..., found, :]  # (..., blocks, e, d)
        k = torch.cat([torch.cat([further_key, absent.expand(*further_key.shape[:-1], 1)], dim=-1), k], dim=-2)
        v = torch.cat([pad(value[..., found, :], (0, 1)), v], dim=-2)
        mask = torch.cat([mask.new_ones(block, extra.shape[-1]), mask], dim=-1)
    out = softmax_attention(q, k, v, scale=scale, mask=mask[None, None])
    return out.flatten(-3, -2)[..., :n, :d]


def block_length(half: int) -> int:
    """Queries handled together: as many as half a window, but not so few that the calls outweigh the work."""
    return max(half, BLOCK)


def partial(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax-weighted values of one group of keys, with the log of the group's weight; hidden scores are −inf."""
    weight = scores.logsumexp(dim=-1, keepdim=True)
    return torch.exp(scores - weight.clamp(min=HIDDEN)) @ values, weight


def merged(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """The softmax over the union of two disjoint groups of keys, from the two `partial` results."""
    share = torch.sigmoid(one[1] - other[1])
    return share * one[0] + (1 - share) * other[0]
