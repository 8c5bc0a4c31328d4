"""Patterns in time linear in n, which never form the n² scores: by a feature map, a projection, or no softmax."""

import math

import torch
from torch import Tensor
from torch.nn.functional import elu

from clusterlens.attention.blocks import softmax_attention
from clusterlens.errors import UserError


def linear(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    """Linear attention (Katharopoulos et al. 2020): Z = φ(Q)(φ(K)^T V) / φ(Q)(φ(K)^T 1), φ(x) = elu(x) + 1.

    The formula has no temperature, so `scale` is not used. Multiply-adds 2·n·d².
    """
    return by_features(elu(query) + 1, elu(key) + 1, value)


def performer(query: Tensor, key: Tensor, value: Tensor, *, scale: float, features: int = 64, seed: int = 0) -> Tensor:
    """FAVOR+ (Choromanski et al. 2020): softmax attention estimated by positive orthogonal random features.

    exp(scale · q·k) = E[φ(q)·φ(k)], φ(x) = exp(ω·x' − |x'|²/2)/√m with x' = √scale · x and rows ω of m `features`; the
    largest exponent is taken off, once per query and once over all keys, which cancels in the ratio.
    """
    omega = orthogonal_features(features, query.shape[-1], seed).to(query)
    return by_features(
        favor(query * math.sqrt(scale), omega, axes=(-1,)), favor(key * math.sqrt(scale), omega, axes=(-1, -2)), value
    )


def favor(x: Tensor, omega: Tensor, *, axes: tuple[int, ...]) -> Tensor:
    exponent = x @ omega.T - x.square().sum(-1, keepdim=True) / 2  # (..., n, m)
    return (exponent - exponent.amax(dim=axes, keepdim=True)).exp()


def orthogonal_features(features: int, d: int, seed: int) -> Tensor:
    """m rows, Gaussian each, orthogonal to one another in groups of d."""
    if features < 1:
        raise UserError(f"performer needs at least 1 feature, not {features}")
    generator = torch.Generator().manual_seed(seed)
    groups = -(-features // d)
    directions, _ = torch.linalg.qr(torch.randn(groups, d, d, generator=generator, dtype=torch.float64))
    length = torch.randn(groups * d, d, generator=generator, dtype=torch.float64).norm(dim=-1, keepdim=True)
    return (directions.transpose(-1, -2).reshape(-1, d) * length)[:features]


def by_features(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Q (K^T V) divided by Q (K^T 1): attention whose weights are products of non-negative features."""
    total = query @ key.sum(dim=-2)[..., None]  # (..., n, 1)
    return query @ (key.transpose(-1, -2) @ value) / total.clamp(min=torch.finfo(total.dtype).tiny)


def linformer(query: Tensor, key: Tensor, value: Tensor, *, scale: float, rank: int = 64, seed: int = 0) -> Tensor:
    """Linformer (Wang et al. 2020): Z = softmax(scale · Q (E K)^T) (E V), E (r, n) with entries N(0, 1/r). Pairs n·r.

    Deviation: E is learned in the paper; here it is the random projection of its Theorem 2, drawn from `seed`.
    """
    n = key.shape[-2]
    if not 1 <= rank <= n:
        raise UserError(f"linformer rank {rank} does not fit {n} tokens: choose 1 to {n}")
    projection = torch.randn(rank, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) / math.sqrt(
        rank
    )
    projection = projection.to(key)
    return softmax_attention(query, projection @ key, projection @ value, scale=scale)


def spiking(query: Tensor, key: Tensor, value: Tensor, *, scale: float, threshold: float = 1.0) -> Tensor:
    """Spiking self-attention (Zhou et al. 2023): Z = s · Q K^T V of spikes 1[x ≥ threshold], without softmax.

    The factor s cancels in the standardisation that follows, so `scale` is taken for it. Multiply-adds 2·n·d².
    """
    q, k, v = ((t >= threshold).to(t.dtype) for t in (query, key, value))
    return scale * (q @ (k.transpose(-1, -2) @ v))
