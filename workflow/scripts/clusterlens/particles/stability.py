"""Where the flow of S Eq. 9 comes to rest, and whether it stays there.

k clusters at unit vectors y_1, ..., y_k hold the shares a_1, ..., a_k of the tokens. A token x sees them through

    m(x) = sum_e w_e(x) y_e,  w_e(x) = a_e e^{beta <x, y_e>} / sum_f a_f e^{beta <x, y_f>},  x' = P_x sigma(m(x)),

P_x v = v - <x, v> x, and sigma is the smooth spike of `fields.ssa_soft`. Write m_c = m(y_c), w_ce = w_e(y_c),
lambda_c = <y_c, sigma(m_c)>. The state rests where sigma(m_c) = lambda_c y_c. Every sigma is positive, so there all
components of y_c are positive too (lambda_c > 0), or all are negative (lambda_c < 0); of the latter kind one cluster is
unstable, since its tokens part at the rate -lambda, and no stable state was found.

The n (d - 1) directions of all tokens split into two kinds that do not mix, since equal tokens get equal attention:
- clusters move as wholes: k (d - 1) directions, `between`. For k = 1 this is the joint displacement of all tokens;
- tokens of cluster c move against each other while their mean stays: (d - 1) directions for each, `within`.

Plain NumPy and SciPy. Shapes: (..., k, d) for y; beta, tau and threshold are numbers or have the shape (...).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The numbers of Eq. 9 and the shares of the clusters, (k,)."""

    beta: Any  # a number, or one for each of several states
    tau: Any
    threshold: Any
    shares: np.ndarray

    def of(self, chosen: np.ndarray) -> "Flow":
        """The chosen ones among several states that each have their own numbers."""
        return Flow(beta=self.beta[chosen], tau=self.tau[chosen], threshold=self.threshold[chosen], shares=self.shares)


def spike(u: np.ndarray, *, tau: float | np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    # S §3.2:  sigma(u) = 1 / (1 + e^{-tau (u - threshold)})
    return expit(tau * (u - threshold))


def spike_slope(u: np.ndarray, *, tau: float | np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    # sigma' = tau sigma (1 - sigma)
    sigma = spike(u, tau=tau, threshold=threshold)
    return tau * sigma * (1 - sigma)


def diagonal_eigenvalue(
    *, tau: float | np.ndarray, threshold: float | np.ndarray, dimension: int = 3
) -> float | np.ndarray:
    """Growth rate of a joint displacement of all tokens from (1, ..., 1)/√d; beta does not enter."""
    # sigma'(u) - √d sigma(u),  u = 1/√d
    u = 1 / np.sqrt(dimension)
    return spike_slope(u, tau=tau, threshold=threshold) - spike(u, tau=tau, threshold=threshold) / u


def diagonal_boundary(tau: float | np.ndarray, *, dimension: int = 3) -> np.ndarray:
    """The threshold above which the diagonal is unstable; infinite for tau <= √d, where it is always stable."""
    # sigma'(u) = sigma(u) / u  <=>  tau u (1 - sigma(u)) = 1  <=>  threshold = u - log(tau u - 1) / tau
    u = 1 / np.sqrt(dimension)
    excess = np.asarray(tau * u - 1, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(excess > 0, u - np.log(excess) / tau, np.inf)


def only_diagonal(*, tau: float | np.ndarray, threshold: float | np.ndarray) -> bool | np.ndarray:
    """True where nothing with positive components rests but the diagonal, for any beta, shares and number of clusters.

    Where it is False other states are possible, not certain.

    g(u) = sigma(u) / u falls for all u > 0 exactly where tau threshold <= 2. Of all tokens, their components positive,
    take the one with the largest ratio r = x_p / x_q of two components. Its m is a mean of tokens, so m_p / m_q <= r;
    g falls, so sigma(m_p) / sigma(m_q) < r unless r = 1. So log(x_p / x_q)' = sigma(m_p) / x_p - sigma(m_q) / x_q is
    negative: the largest ratio falls until all tokens are on the diagonal, and nothing else can rest.
    """
    # g' < 0  <=>  v - 1 < e^{v - tau threshold},  v = tau u;  the two sides touch at v = tau threshold = 2
    return tau * threshold <= 2


def tangent_basis(y: np.ndarray) -> np.ndarray:
    """Orthonormal vectors tangent to the sphere at y as columns, (..., d) -> (..., d, d - 1)."""
    # the reflection I - 2 v v' / |v|^2 with v = y ± e_d takes e_d to ∓y, hence the other axes to tangent vectors
    v = y.copy()
    v[..., -1] += np.where(y[..., -1] < 0, -1.0, 1.0)
    reflection = np.eye(y.shape[-1]) - 2 * v[..., :, None] * v[..., None, :] / (v * v).sum(-1)[..., None, None]
    return reflection[..., :-1]


def expanded(number: float | np.ndarray) -> np.ndarray:
    return np.asarray(number, dtype=float)[..., None, None]


@dataclass(frozen=True)
class Seen:
    """What the clusters see of each other: attention w_ce, m_c, sigma(m_c), sigma'(m_c) and lambda_c."""

    attention: np.ndarray  # (..., k, k)
    mean: np.ndarray  # (..., k, d)
    drive: np.ndarray
    slope: np.ndarray
    pull: np.ndarray  # (..., k)


def seen(y: np.ndarray, flow: Flow) -> Seen:
    logits = expanded(flow.beta) * (y @ y.swapaxes(-1, -2)) + np.log(flow.shares)
    attention = np.exp(logits - logits.max(-1, keepdims=True))
    attention /= attention.sum(-1, keepdims=True)
    mean = attention @ y
    numbers = {"tau": expanded(flow.tau), "threshold": expanded(flow.threshold)}
    drive = spike(mean, **numbers)
    return Seen(attention, mean, drive, spike_slope(mean, **numbers), (y * drive).sum(-1))


def velocity(y: np.ndarray, flow: Flow) -> np.ndarray:
    """y_c' = P_{y_c} sigma(m_c), (..., k, d)."""
    now = seen(y, flow)
    return now.drive - now.pull[..., None] * y


def attention_slope(y: np.ndarray, now: Seen, beta: np.ndarray) -> np.ndarray:
    """How m(x) turns with x at x = y_c: beta times the covariance of the clusters as y_c sees them, (..., k, d, d)."""
    # dm/dx = beta sum_e w_ce (y_e - m_c)(y_e - m_c)'
    apart = y[..., None, :, :] - now.mean[..., :, None, :]  # (..., c, e, d)
    weighted = now.attention[..., None] * apart
    return expanded(beta)[..., None] * (weighted.swapaxes(-1, -2) @ apart)


def within(y: np.ndarray, flow: Flow) -> np.ndarray:
    """Jacobian of a token's displacement from its own cluster, in tangent coordinates, (..., k, d - 1, d - 1)."""
    # delta' = P_c diag(sigma'(m_c)) (dm/dx) delta - lambda_c delta;  for k = 1, dm/dx = 0: -lambda, without beta
    now = seen(y, flow)
    basis = tangent_basis(y)
    turned = now.slope[..., None] * attention_slope(y, now, flow.beta)
    return basis.swapaxes(-1, -2) @ turned @ basis - expanded(now.pull) * np.eye(basis.shape[-1])


def between(y: np.ndarray, flow: Flow) -> np.ndarray:
    """Jacobian of displacements of whole clusters, in tangent coordinates, (..., k (d - 1), k (d - 1))."""
    # delta m_c = sum_e w_ce (delta_e + beta <y_c, delta_e> (y_e - m_c)) + (dm/dx) delta_c
    # delta_c'  = P_c diag(sigma'(m_c)) delta m_c - lambda_c delta_c
    now = seen(y, flow)
    k, d = y.shape[-2:]
    basis = tangent_basis(y)
    apart = y[..., None, :, :] - now.mean[..., :, None, :]  # (..., c, e, d)
    beta = expanded(flow.beta)[..., None, None]
    blocks = np.eye(d) + beta * apart[..., :, None] * y[..., :, None, None, :]  # (..., c, e, d, d)
    blocks = now.attention[..., None, None] * blocks
    own = np.arange(k)
    blocks[..., own, own, :, :] += attention_slope(y, now, flow.beta)
    blocks = now.slope[..., :, None, :, None] * blocks
    blocks = basis.swapaxes(-1, -2)[..., :, None, :, :] @ blocks @ basis[..., None, :, :, :]
    blocks[..., own, own, :, :] -= expanded(now.pull) * np.eye(d - 1)
    return blocks.swapaxes(-3, -2).reshape(*y.shape[:-2], k * (d - 1), k * (d - 1))


def leading(jacobian: np.ndarray) -> np.ndarray:
    """Largest real part among the eigenvalues: the growth rate of the displacement that grows fastest."""
    return np.linalg.eigvals(jacobian).real.max(-1)


def newton(y: np.ndarray, flow: Flow, *, steps: int = 8, longest: float = 0.1) -> np.ndarray:
    """Newton's method for states at rest, on the sphere; no step turns a cluster by more than about `longest`."""
    k, d = y.shape[-2:]
    for _ in range(steps):
        basis = tangent_basis(y)
        falling = basis.swapaxes(-1, -2) @ velocity(y, flow)[..., None]  # (..., k, d - 1, 1)
        flat = falling.reshape(*y.shape[:-2], k * (d - 1), 1)
        shift = np.linalg.solve(between(y, flow) - 1e-13 * np.eye(k * (d - 1)), -flat).reshape(falling.shape)
        size = np.sqrt((shift**2).sum((-1, -2))).max(-1)[..., None, None]
        y = y + (basis @ shift)[..., 0] * np.minimum(1, longest / np.maximum(size, longest))
        y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return y
