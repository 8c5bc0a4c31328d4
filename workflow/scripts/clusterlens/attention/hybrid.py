"""Patterns that add long-range pairs to a window: global tokens, random keys, strides."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from clusterlens.attention.blocks import (
    banded,
    block_length,
    check_tokens,
    check_window,
    merged,
    partial,
    softmax_attention,
)
from clusterlens.errors import UserError


def longformer(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    window: int,
    global_tokens: list[int],
    row_scale: float | None = None,
    rows: tuple[Tensor, Tensor, Tensor] | None = None,
) -> Tensor:
    """A window around each token, and tokens that see all and are seen by all (Beltagy et al. 2020; A §3.3).

    Mask: |i − j| ≤ w/2 or i ∈ G or j ∈ G. Pairs n·(w + 1 + 2|G|) at most. The rows of global tokens may have their own
    projections `rows` = (Q, K, V) and their own factor `row_scale`, as in Hugging Face's implementation.
    """
    return with_globals(
        query, key, value, scale=scale, window=window, global_tokens=global_tokens, row_scale=row_scale, rows=rows
    )


def bigbird(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    window: int,
    global_tokens: list[int],
    random_keys: int = 16,
    seed: int = 0,
    row_scale: float | None = None,
) -> Tensor:
    """Window, global tokens and random keys (Zaheer et al. 2020).

    Mask: |i − j| ≤ w/2 or i ∈ G or j ∈ G or j ∈ R(block of i). As in BigBird the random keys are shared by a block of
    queries; R is drawn anew for each block of max(w/2, 64) queries from the keys outside G and outside the windows of
    all
    its queries. Pairs n·(w + 1 + 2|G| + |R|) at most.
    """
    chosen = random_positions(query.shape[-2], window, global_tokens, random_keys, seed)
    return with_globals(
        query, key, value, scale=scale, window=window, global_tokens=global_tokens, row_scale=row_scale, chosen=chosen
    )


def random_positions(n: int, window: int, global_tokens: list[int], random_keys: int, seed: int) -> Tensor:
    """BigBird's random keys of each block of queries, (blocks, r); −1 where fewer than r are to be had."""
    check_window(window, n, even=True)
    if not 0 <= random_keys <= n:
        raise UserError(f"random_keys {random_keys} does not fit {n} tokens: choose 0 to {n}")
    half, block = window // 2, block_length(window // 2)
    starts = torch.arange(0, n, block)[:, None]
    position = torch.arange(n)
    taken = (position >= starts - half) & (position < starts + block + half)  # (blocks, n)
    taken[:, check_tokens(global_tokens, n)] = True
    draw = torch.rand(taken.shape, generator=torch.Generator().manual_seed(seed)).masked_fill(taken, 2.0)
    order = draw.argsort(dim=-1)[:, :random_keys]
    return order.masked_fill(taken.gather(-1, order), -1)


def with_globals(query, key, value, *, scale, window, global_tokens, row_scale=None, rows=None, chosen=None) -> Tensor:
    """The window with global tokens and, with `chosen` (blocks, r), further keys for each block of queries."""
    n = query.shape[-2]
    check_window(window, n, even=True)
    tokens = torch.tensor(check_tokens(global_tokens, n), dtype=torch.long, device=query.device)
    dropped = torch.zeros(n, dtype=torch.bool, device=query.device).index_fill(0, tokens, True)
    blocks = -(-n // block_length(window // 2))
    extra = tokens.expand(blocks, -1)  # (blocks, g)
    if chosen is not None:
        extra = torch.cat([extra, chosen.to(query.device)], dim=-1)
    further = extra if extra.shape[-1] else None
    out = banded(
        query, key, value, scale=scale, half=window // 2, dropped=dropped.expand(key.shape[:-1]), extra=further
    )
    if len(tokens):
        q, k, v = rows or (query, key, value)
        out[..., tokens, :] = softmax_attention(
            q[..., tokens, :], k, v, scale=scale if row_scale is None else row_scale
        )
    return out


def strided(query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int, stride: int) -> Tensor:
    """Window and every stride-th token (Child et al. 2019), in both directions.

    Mask: |i − j| ≤ w/2 or stride divides i − j. Pairs about n·(w + n/stride): n^1.5 where stride ≈ √n. One softmax over
    two disjoint groups of keys: those of the token's residue class, and the rest of the window.
    """
    n = query.shape[-2]
    check_window(window, n, even=True)
    if not 1 <= stride <= n:
        raise UserError(f"stride {stride} does not fit {n} tokens: choose 1 to {n}")
    return merged(
        residue_class(query, key, value, scale, stride), rest_of_window(query, key, value, scale, window, stride)
    )


def residue_class(query, key, value, scale, stride) -> tuple[Tensor, Tensor]:
    """`partial` over the keys whose distance is a multiple of the stride."""
    n = query.shape[-2]
    tail = -n % stride
    q, k, v = (pad(t, (0, 0, 0, tail)).unflatten(-2, (-1, stride)).transpose(-2, -3) for t in (query, key, value))
    position = torch.arange(n + tail, device=query.device).unflatten(0, (-1, stride)).T  # (stride, n/stride)
    scores = (scale * q @ k.transpose(-1, -2)).masked_fill((position >= n)[:, None, :], -torch.inf)
    return tuple(t.transpose(-2, -3).flatten(-3, -2)[..., :n, :] for t in partial(scores, v))


def rest_of_window(query, key, value, scale, window, stride) -> tuple[Tensor, Tensor]:
    """`partial` over the keys of the window whose distance is not a multiple of the stride."""
    n, half = query.shape[-2], window // 2
    block = block_length(half)
    tail, reach = -n % block, block + 2 * half
    q = pad(query, (0, 0, 0, tail)).unflatten(-2, (-1, block))  # (..., blocks, block, d)
    k, v = (pad(t, (0, 0, half, half + tail)).unfold(-2, reach, block).transpose(-1, -2) for t in (key, value))
    row = torch.arange(block, device=query.device)[:, None]
    column = torch.arange(reach, device=query.device)
    distance = column - half - row  # (block, reach)
    position = torch.arange(0, n + tail, block, device=query.device)[:, None] + column - half  # (blocks, reach)
    outside = (distance.abs() > half) | (distance % stride == 0) | ((position < 0) | (position >= n))[:, None, :]
    scores = (scale * q @ k.transpose(-1, -2)).masked_fill(outside, -torch.inf)
    return tuple(t.flatten(-3, -2)[..., :n, :] for t in partial(scores, v))
