"""How many query-key pairs a pattern scores, from its mask; a pair costs 2·d multiply-adds, one score and one value."""

from collections.abc import Iterable

import numpy as np

from clusterlens.attention.blocks import check_tokens
from clusterlens.attention.hybrid import random_positions


def all_pairs(n: int) -> int:
    return n * n


def earlier(n: int) -> int:
    return n * (n + 1) // 2


def parts(n: int, *, window: int, first: int = 0) -> int:
    edges = np.unique([0, *range(first, n, window), n])
    return int((np.diff(edges) ** 2).sum())


def shifting_parts(n: int, *, window: int) -> float:
    """The mean of an even and an odd iteration."""
    return (parts(n, window=window) + parts(n, window=window, first=window // 2)) / 2


def at_distances(n: int, distances: Iterable[int]) -> int:
    """Pairs (i, j) at the given positive distances, in both directions."""
    return 2 * sum(max(n - distance, 0) for distance in distances)


def gapped(n: int, *, window: int, dilation: int = 1) -> int:
    return n + at_distances(n, range(dilation, dilation * (window // 2) + 1, dilation))


def windows_and_tokens(n: int, *, window: int, global_tokens: list[int]) -> int:
    """Global tokens see n keys; any other token sees them and the others within its window."""
    tokens = check_tokens(global_tokens, n)
    plain = np.ones(n, dtype=int)
    plain[tokens] = 0
    before = np.concatenate([[0], np.cumsum(plain)])
    position = np.flatnonzero(plain)
    low, high = np.maximum(position - window // 2, 0), np.minimum(position + window // 2 + 1, n)
    return int((before[high] - before[low] + len(tokens)).sum() + len(tokens) * n)


def windows_tokens_and_random(
    n: int, *, window: int, global_tokens: list[int], random_keys: int = 16, seed: int = 0
) -> int:
    chosen = random_positions(n, window, global_tokens, random_keys, seed)
    keys_of_block = (chosen >= 0).sum(dim=-1).repeat_interleave(max(window // 2, 64))[:n].numpy()
    keys_of_block[check_tokens(global_tokens, n)] = 0
    return windows_and_tokens(n, window=window, global_tokens=global_tokens) + int(keys_of_block.sum())


def windows_and_strides(n: int, *, window: int, stride: int) -> int:
    classes = np.bincount(np.arange(n) % stride)
    return int((classes**2).sum()) + at_distances(n, (o for o in range(1, window // 2 + 1) if o % stride))
