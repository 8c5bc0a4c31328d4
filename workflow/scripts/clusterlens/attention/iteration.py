"""Parameter-free attention applied again and again, A Eqs. 1-3, keeping every state on the way."""

from collections.abc import Callable

import torch
from torch import Tensor

from clusterlens.attention.patterns import check_parameters
from clusterlens.attention.scaling import attend
from clusterlens.errors import UserError

AXES = {"feature": (-2,), "token": (-1,), "scalar": (-2, -1)}
Attention = Callable[[Tensor, int], tuple[Tensor, Tensor]]


def standardise(z: Tensor, *, axis: str = "feature") -> Tensor:
    """Ẑ = (Z − μ)/σ, A Eq. 2, with μ, σ per feature over tokens, per token over features, or over all entries.

    Deviation: where σ is nothing but rounding (a constant feature) Ẑ is 0, not a division by zero.
    """
    if axis not in AXES:
        raise UserError(f"unknown standardisation '{axis}': allowed: {', '.join(AXES)}")
    mean = z.mean(dim=AXES[axis], keepdim=True)
    sigma = z.std(dim=AXES[axis], keepdim=True, correction=0)
    rounding = 16 * torch.finfo(z.dtype).eps * z.abs().amax(dim=AXES[axis], keepdim=True)
    return torch.where(sigma > rounding, (z - mean) / sigma.clamp(min=torch.finfo(z.dtype).tiny), 0.0)


def by_pattern(name: str, *, mode: str = "sdp", **parameters) -> Attention:
    """A registered pattern as one step of the iteration."""
    pattern = check_parameters(name, parameters)
    return lambda x, iteration: attend(pattern, x, mode=mode, iteration=iteration, **parameters)


def iterate(x: Tensor, attention: Attention, *, iterations: int, axis: str = "feature") -> Tensor:
    """X^(0), ..., X^(T) for T = `iterations`, stacked: (T + 1, n, d)."""
    if x.ndim != 2 or x.shape[0] < 3:
        raise UserError(
            f"attention clusters need at least 3 tokens with features, not an array of shape {tuple(x.shape)}"
        )
    history = [x]
    for iteration in range(iterations):
        # Z^(t) = A(X^(t)); X^(t+1) = X^(t) + Ẑ^(t)  (A Eqs. 1, 3); X^(t) as the attention left it, see scaling.py
        z, kept = attention(history[-1], iteration)
        history.append(kept + standardise(z, axis=axis))
    return torch.stack(history)
