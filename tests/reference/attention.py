"""Every attention pattern written out the slow way: a full mask or a loop over tokens."""

import math

import numpy as np


def softmax_rows(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def masked_attention(q, k, v, mask, scale):
    """softmax(scale · q k^T where mask, else −inf) v."""
    return softmax_rows(np.where(mask, scale * q @ k.T, -np.inf)) @ v


def mask_of(name: str, n: int, *, iteration: int = 0, chosen=None, **p) -> np.ndarray:
    """The (n, n) mask of a softmax pattern, one entry at a time."""
    mask = np.zeros((n, n), dtype=bool)
    tokens = {token % n for token in p.get("global_tokens", [])}
    shift = p["window"] // 2 if name == "shifted" and iteration % 2 else 0
    for i in range(n):
        for j in range(n):
            near = abs(i - j) <= p.get("window", 0) / 2
            mask[i, j] = {
                "global": True,
                "causal": j <= i,
                "local": i // p.get("window", 1) == j // p.get("window", 1),
                "shifted": (i + shift) // p.get("window", 1) == (j + shift) // p.get("window", 1),
                "overlapping": near,
                "dilated": abs(i - j) <= p.get("dilation", 2) * p.get("window", 0) / 2
                and (i - j) % p.get("dilation", 2) == 0,
                "longformer": near or i in tokens or j in tokens,
                "bigbird": near
                or i in tokens
                or j in tokens
                or (chosen is not None and j in chosen[i // max(p["window"] // 2, 64)]),
                "strided": near or (i - j) % p.get("stride", 1) == 0,
            }[name]
    return mask


def sinkhorn_matrix(scores: np.ndarray, rounds: int) -> np.ndarray:
    """exp(scores) with rows, then columns and rows in turn, divided by their sums."""
    p = np.exp(scores)
    p /= p.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        p /= p.sum(axis=0, keepdims=True)
        p /= p.sum(axis=1, keepdims=True)
    return p


def linear_attention(q, k, v):
    def phi(x):
        return np.where(x > 0, x + 1, np.exp(x))

    weights = phi(q) @ phi(k).T
    return weights / weights.sum(axis=1, keepdims=True) @ v


def kernel_attention(q, k, v, omega, scale):
    """Performer with the n² estimate of exp(scale · q·k) formed."""

    def phi(x):
        x = x * math.sqrt(scale)
        return np.exp(x @ omega.T - (x**2).sum(axis=1, keepdims=True) / 2)

    weights = phi(q) @ phi(k).T
    return weights / weights.sum(axis=1, keepdims=True) @ v


def spiking_attention(x, threshold, scale):
    """s · Q K^T V with the n² product formed."""
    spikes = (x >= threshold).astype(float)
    return scale * (spikes @ spikes.T) @ spikes


def iterate(x, attention, iterations):
    """A Eqs. 1-3 with μ, σ per feature."""
    for _ in range(iterations):
        z = attention(x)
        x = x + (z - z.mean(axis=0)) / z.std(axis=0)
    return x
