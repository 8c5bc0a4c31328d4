"""The flow of tokens under the trained heads of one layer at full width, through the heads' low-rank factors."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.decomposition import PCA
from torch import Tensor

from clusterlens.errors import UserError, choose
from clusterlens.particles.integrators import INTEGRATORS, Velocity, extended, projected, unit
from clusterlens.particles.softmax import attend
from clusterlens.particles.starts import STARTS
from clusterlens.probing.heads import Heads


@dataclass(frozen=True)
class Flow:
    """Where the tokens were at the times kept."""

    times: np.ndarray  # (T,)
    positions: Tensor  # (T, n, d)


def velocity(heads: Heads, *, symmetric: bool = False, causal: bool = False) -> Velocity:
    """x_i' as a function of t and all tokens (n, d).

    A step costs 4·H·k·d multiply-adds for every token instead of the 3·H·d² of full matrices. `symmetric` replaces the
    scores by those of B_m, the symmetric part of W_Q^T W_K.
    """
    # E, ALBERT slides:  x_i' = sum_m sum_j P^m_ij V_m x_j,  P^m = softmax_j( scale · <W_Q x_i, W_K x_j> )
    # with B_m:          P^m = softmax_j( <x_i, B_m x_j> ),  <x_i, B_m x_j> = scale/2 · ( <q_i, k_j> + <k_i, q_j> )
    inputs = torch.cat([heads.query, heads.key, heads.value]).flatten(0, 1)  # (3·H·k, d)
    output = heads.output.transpose(0, 1).flatten(1)  # (d, H·k)

    def field(t: float, x: Tensor) -> Tensor:
        q, k, v = (x @ inputs.mT).unflatten(1, (3, len(heads), -1)).permute(1, 2, 0, 3)[:, None]  # (1, H, n, k) each
        if symmetric:
            q, k = torch.cat([q, k], -1) / 2, torch.cat([k, q], -1)
        u = attend(heads.scale * q, k, v, causal=causal)[0]  # (H, n, k)
        return u.transpose(0, 1).flatten(1) @ output.mT  # (n, d)

    return field


def start(heads: Heads, tokens: int, *, seed: int, shape: str = "sphere") -> Tensor:
    """Tokens drawn on the sphere of radius √d, the norm that a layer norm gives, or on a circle of that radius."""
    drawn = choose("start", shape, STARTS)(np.random.default_rng(seed), tokens, heads.hidden)
    return math.sqrt(heads.hidden) * torch.as_tensor(drawn, dtype=heads.query.dtype, device=heads.query.device)


def flow(
    heads: Heads,
    x: Tensor,
    *,
    time: float = 10.0,
    step: float = 0.1,
    every: int = 1,
    integrator: str = "euler",
    symmetric: bool = False,
    causal: bool = False,
    sphere: bool = False,
) -> Flow:
    """The trajectory of the tokens x (n, d), every `every`-th step of it, the start and the end.

    On the `sphere` tokens move along it and keep the radius √d, as after a layer norm; without, they are free to grow.
    """
    if step <= 0 or time < 0 or every < 1:
        raise UserError(f"step {step}, time {time}, every {every}: step and every must be positive, time not negative")
    if x.ndim != 2 or x.shape[1] != heads.hidden:
        raise UserError(f"tokens of shape {tuple(x.shape)} do not fit heads of width {heads.hidden}")
    advance = choose("integrator", integrator, INTEGRATORS)
    radius = math.sqrt(heads.hidden)
    f = velocity(heads, symmetric=symmetric, causal=causal)
    x = x.to(heads.query)
    if sphere:
        on_unit = scaled(f, radius)
        f, x = projected(on_unit) if integrator == "euler" else extended(on_unit), unit(x)
    steps = round(time / step)
    kept = sorted({*range(0, steps + 1, every), steps})
    positions = x.new_empty(len(kept), *x.shape)
    slots = dict(zip(kept, positions, strict=True))
    with torch.inference_mode():
        for index in range(steps + 1):
            if index:
                x = advance(f, (index - 1) * step, x, step)
                x = unit(x) if sphere else x
            if index in slots:
                slots[index].copy_(x)
    if sphere:
        positions *= radius
    if not torch.isfinite(positions).all():
        raise UserError(f"the flow overflows before t = {time:g}: shorten time, or stay on the sphere")
    return Flow(np.array(kept) * step, positions)


def scaled(f: Velocity, radius: float) -> Velocity:
    """The velocity of x/radius for tokens x on a sphere of that radius."""
    return lambda t, x: f(t, radius * x) / radius


def principal(flow: Flow, dimensions: int = 2, *, same_size: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Trajectories on their principal axes, (T, n, dimensions), and the share of variance on each axis.

    A free flow grows exponentially, so that the last times alone would choose the axes: `same_size` divides the tokens
    of every time by their root mean square norm first.
    """
    x = flow.positions.cpu().numpy()
    if same_size:
        size = np.sqrt((x**2).sum(-1).mean(-1))
        x = x / np.where(size > 0, size, 1)[:, None, None]
    times, n, d = x.shape
    if not 1 <= dimensions < min(times * n, d):
        raise UserError(f"{dimensions} principal axes asked of {times * n} points in {d} dimensions")
    pca = PCA(dimensions, svd_solver="arpack", random_state=0)  # a few axes of thousands, without the others
    return pca.fit_transform(x.reshape(-1, d)).reshape(times, n, dimensions), pca.explained_variance_ratio_
