"""Steps in time. Each integrator advances tokens from t by h under a velocity f(t, x)."""

from collections.abc import Callable

import torch
from torch import Tensor
from torchdiffeq import odeint

Velocity = Callable[[float, Tensor], Tensor]


def unit(x: Tensor) -> Tensor:
    """x / |x|, token by token."""
    return x / (x * x).sum(-1, keepdim=True).sqrt_()


def tangent(x: Tensor, v: Tensor) -> Tensor:
    """The part of v tangent to the sphere at the unit vector x."""
    # T §2.4:  P_x(v) = v - <x, v> x / |x|^2
    return torch.addcmul(v, x, (x * v).sum(-1, keepdim=True), value=-1)


def projected(f: Velocity) -> Velocity:
    """f on the sphere: its tangent part, for tokens of norm one."""
    return lambda t, x: tangent(x, f(t, x))


def extended(f: Velocity) -> Velocity:
    """f on the sphere, extended along rays so that the stages of a scheme may leave the sphere a little."""
    on_sphere = projected(f)
    return lambda t, x: on_sphere(t, unit(x))


def euler(f: Velocity, t: float, x: Tensor, h: float) -> Tensor:
    """Explicit Euler, order 1: what the papers ran."""
    return torch.add(x, f(t, x), alpha=h)


def rk4(f: Velocity, t: float, x: Tensor, h: float) -> Tensor:
    """The classical Runge-Kutta scheme, order 4."""
    k1 = f(t, x)
    k2 = f(t + h / 2, x + h / 2 * k1)
    k3 = f(t + h / 2, x + h / 2 * k2)
    k4 = f(t + h, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def adaptive(f: Velocity, t: float, x: Tensor, h: float) -> Tensor:
    """Dormand-Prince of order 5 with its own steps between t and t + h (torchdiffeq)."""
    ends = torch.tensor([t, t + h], dtype=torch.float64, device=x.device)
    tolerance = 1e-9 if x.dtype == torch.float64 else 1e-5
    return odeint(lambda time, y: f(float(time), y), x, ends, rtol=tolerance, atol=tolerance, method="dopri5")[-1]


def iterate(f: Velocity, t: float, x: Tensor, h: float) -> Tensor:
    """One application of a discrete map; a step of time passes."""
    return f(t, x)


INTEGRATORS = {"euler": euler, "rk4": rk4, "adaptive": adaptive, "map": iterate}
