"""The vector fields of the papers, each a function of time, tokens and system; on the sphere before projection.

Symbols: x_i token i (z_i rescaled), Q, K, V the matrices of a head, beta inverse temperature, P attention, n tokens.
Multi-head fields sum over heads. Shapes: S systems, H heads, n tokens, d dimensions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from clusterlens.particles.settings import Field
from clusterlens.particles.softmax import attend, attend_unnormalised, weights


@dataclass(frozen=True, kw_only=True)
class System:
    """What the fields need besides the tokens; a matrix that is None is the identity."""

    query: Tensor | None  # (S, H, d, d), or 1 for S where all systems share it
    key: Tensor | None
    value: Tensor | None
    mlp: Tensor | None  # (S, 1, d, d), W of S A.2
    beta: Tensor  # (S, 1, 1, 1)
    steepness: Tensor  # (S, 1, 1), tau of S Eq. 9
    threshold: float  # v_threshold of S Eqs. 7-9


def times(matrix: Tensor | None, x: Tensor) -> Tensor:
    """M x_i for every head: (S, n, d) -> (S, H, n, d)."""
    return x[:, None] if matrix is None else x[:, None] @ matrix.mT


def over_heads(u: Tensor) -> Tensor:
    """Sum over heads: (S, H, n, d) -> (S, n, d)."""
    return u[:, 0] if u.shape[1] == 1 else u.sum(1)


def queries_keys(x: Tensor, system: System) -> tuple[Tensor, Tensor]:
    """beta Q x_i and K x_j, whose inner products are the logits."""
    return system.beta * times(system.query, x), times(system.key, x)


def attention(t: float, x: Tensor, system: System) -> Tensor:
    """Self-attention."""
    # T §2.4, S Eq. 5:  u_k = (1/Z_k) sum_j e^{beta <Q x_k, K x_j>} V x_j,  Z_k = sum_j e^{beta <Q x_k, K x_j>}
    q, k = queries_keys(x, system)
    return over_heads(attend(q, k, times(system.value, x)))


def causal(t: float, x: Tensor, system: System) -> Tensor:
    """Causal self-attention: token k sees the tokens up to and including itself."""
    # T Eq. 3:  u_k = (1/Z_k) sum_{j<=k} e^{beta <Q x_k, K x_j>} V x_j
    q, k = queries_keys(x, system)
    return over_heads(attend(q, k, times(system.value, x), causal=True))


def unnormalised(t: float, x: Tensor, system: System) -> Tensor:
    """Attention without the softmax's denominator."""
    # Geshkovski et al. 2024b:  u_k = (1/n) sum_j e^{beta <Q x_k, K x_j>} V x_j
    q, k = queries_keys(x, system)
    return over_heads(attend_unnormalised(q, k, times(system.value, x)))


def ssa_soft(t: float, x: Tensor, system: System) -> Tensor:
    """Spiking self-attention with the smooth spike."""
    # S Eq. 9:  u = sigma_tau( sum_j e^{beta <x, x_j>} x_j / sum_j e^{beta <x, x_j>} ),  component by component
    #           sigma_tau(u) = 1 / (1 + e^{-tau (u - v_threshold)})
    return torch.sigmoid(system.steepness * (attention(t, x, system) - system.threshold))


def ssa_hard(t: float, x: Tensor, system: System) -> Tensor:
    """Spiking self-attention with hard spikes: a map, not a velocity.

    Deviation: Eq. 7 leaves open how the potential U(t) builds up; here it is the present input, without memory.
    Deviation: an all-zero spike has no projection on the sphere; such a token keeps its place.
    """
    # S Eq. 6:  q_i = LIF(Proj(W_q x_i)), k_i and v_i alike, with W_q = W_k = W_v = W_p = beta I
    # S Eq. 7:  LIF(u) = 1 if u >= v_threshold else 0
    # S Eq. 8:  x_i(t+1) = Proj( LIF( W_p sum_j alpha_ij v_j ) ),  alpha_ij = LIF( <q_i, k_j> / 8 )
    spikes = (x >= system.threshold).to(x.dtype)  # beta drops out of Proj(beta x)
    alpha = (spikes @ spikes.mT / 8 >= system.threshold).to(x.dtype)  # (S, n, n)
    fired = (system.beta[:, 0] * (alpha @ spikes) >= system.threshold).to(x.dtype)
    norm = torch.linalg.vector_norm(fired, dim=-1, keepdim=True)
    return torch.where(norm > 0, fired / norm.clamp(min=1), x)


def rescaled_attention(t: float, z: Tensor, system: System) -> Tensor:
    """sum_j P_ij(t) z_j of the rescaled tokens z_i = e^{-tV} x_i."""
    # Geshkovski et al. 2023, E:  P_ij(t) = softmax_j <Q e^{tV} z_i, K e^{tV} z_j>
    q, k = queries_keys(unscaled(t, z, system), system)
    return over_heads(attend(q, k, z[:, None]))


def unscaled(t: float, z: Tensor, system: System) -> Tensor:
    """The tokens themselves, x_i = e^{tV} z_i, for the one head of a rescaled flow."""
    if system.value is None:
        return z * torch.exp(torch.as_tensor(t, dtype=z.dtype))
    return z @ torch.linalg.matrix_exp(system.value[:, 0] * t).mT


def rescaled(t: float, z: Tensor, system: System) -> Tensor:
    """The flow whose limits are E's theorems."""
    # Geshkovski et al. 2023, E:  z_i' = sum_j P_ij(t) V (z_j - z_i) = V ( sum_j P_ij(t) z_j - z_i )
    return times(system.value, rescaled_attention(t, z, system) - z).squeeze(1)


def rescaled_mlp(t: float, z: Tensor, system: System) -> Tensor:
    """The rescaled flow through a two-layer perceptron.

    Deviation: the denominator is Z_i. S A.2 prints Z_j, under which the weights of a token do not sum to one.
    """
    # S A.2:  z_i' = W sigma( sum_j P_ij(t) (z_j - z_i) ),  sigma = ReLU as in S A.1 Eq. 5
    return times(system.mlp, torch.relu(rescaled_attention(t, z, system) - z)).squeeze(1)


def attention_matrix(field: Field, t: float, x: Tensor, system: System) -> Tensor:
    """P(t) of the tokens x, head by head: (S, H, n, n)."""
    return weights(*queries_keys(unscaled(t, x, system) if field.rescaled else x, system), causal=field.causal)


VELOCITIES: dict[str, Callable[[float, Tensor, System], Tensor]] = {
    "attention": attention,
    "causal": causal,
    "unnormalised": unnormalised,
    "ssa_soft": ssa_soft,
    "ssa_hard": ssa_hard,
    "free": attention,
    "free_causal": causal,
    "rescaled": rescaled,
    "rescaled_mlp": rescaled_mlp,
}
