"""Patterns in which every token may see every other (or every earlier) one."""

from torch import Tensor

from clusterlens.attention.blocks import softmax_attention
from clusterlens.errors import UserError


def global_attention(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    """All pairs: Z = softmax(scale · Q K^T) V. Mask: 1. Pairs n². No n² memory."""
    return softmax_attention(query, key, value, scale=scale)


def causal(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    """Itself and what came before. Mask: j ≤ i. Pairs n(n + 1)/2. No n² memory."""
    return softmax_attention(query, key, value, scale=scale, causal=True)


def sinkhorn(query: Tensor, key: Tensor, value: Tensor, *, scale: float, rounds: int = 5) -> Tensor:
    """Doubly stochastic attention (Sander et al. 2022): exp(scale · Q K^T), columns and rows normalised in turn.

    Z = P V, P_ij = exp(s_ij + f_i + g_j); each round sets g so that columns sum to 1, then f so that rows do, in
    logarithms. Keeps the n² scores.
    """
    if rounds < 1:
        raise UserError(f"sinkhorn needs at least 1 round, not {rounds}")
    scores = scale * query @ key.transpose(-1, -2)  # (..., n, n)
    f = -scores.logsumexp(dim=-1, keepdim=True)
    for _ in range(rounds):
        g = -(scores + f).logsumexp(dim=-2, keepdim=True)
        f = -(scores + g).logsumexp(dim=-1, keepdim=True)
    return (scores + f + g).exp() @ value
