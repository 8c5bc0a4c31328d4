"""Closed forms to hold the simulations against."""

import numpy as np
from scipy.linalg import expm


def boundary(beta: np.ndarray, *, n: int, closeness: float = 1e-3, step: float = 0.01, end: float = 30.0) -> np.ndarray:
    """Time at which n orthogonal tokens have reached pairwise cosine 1 - closeness; infinite if not before `end`."""
    # Geshkovski et al. 2024b:  y' = 2 (1 - y) ((n - 1) y + 1) / (e^{beta (1 - y)} + n - 1),  y(0) = 0,  y = <x_i, x_j>
    beta = np.asarray(beta, dtype=float)

    def slope(y: np.ndarray) -> np.ndarray:
        return 2 * (1 - y) * ((n - 1) * y + 1) / (np.exp(beta * (1 - y)) + n - 1)

    y, reached = np.zeros_like(beta), np.full_like(beta, np.inf)
    for index in range(1, round(end / step) + 1):
        k1 = slope(y)
        k2 = slope(y + step / 2 * k1)
        k3 = slope(y + step / 2 * k2)
        k4 = slope(y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        reached = np.where((y >= 1 - closeness) & np.isinf(reached), index * step, reached)
    return reached


def even_spacing(n: int) -> float:
    """Angle between neighbours of n tokens spread evenly on the circle, in degrees."""
    return 360 / n


def random_spacing(n: int) -> float:
    """Mean angle to the nearest of n tokens placed at random on the circle: the smaller of two gaps of mean 360/n."""
    # gaps are uniform on the simplex, so that P(both gaps of a token exceed g) = (1 - 2 g / 360)^{n - 1}
    return 360 / (2 * n)


def uniform_causal(n: int) -> np.ndarray:
    """P_ij = 1/i for j <= i: each token attends alike to itself and to all before it."""
    return np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]


def frozen_flow(times: np.ndarray, start: np.ndarray, p: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The exact flow with attention held at p: (T,), (n, d), (H, n, n), (H, d, d) -> (T, n, d)."""
    # E, master equation, A constant:  X' = sum_h P_h X V_h^T,  that is vec(X)' = A vec(X) with A = sum_h P_h ⊗ V_h
    operator = sum(np.kron(weights, matrix) for weights, matrix in zip(p, value, strict=True))
    states, steps = [start.reshape(-1)], np.diff(times)
    propagators = {round(step, 9): expm(step * operator) for step in np.unique(np.round(steps, 9))}
    for step in steps:
        states.append(propagators[round(step, 9)] @ states[-1])
    return np.stack(states).reshape(len(times), *start.shape)


def frozen_error(times: np.ndarray, x: np.ndarray, p: np.ndarray, value: np.ndarray) -> np.ndarray:
    """|X_frozen - X| / |X| for every time and system: (T,), (T, S, n, d), (S, H, n, n), (S, H, d, d) -> (T, S)."""
    columns = []
    for system in range(x.shape[1]):
        true = x[:, system]
        linear = frozen_flow(times, true[0], p[system], value[system])
        columns.append(np.linalg.norm(linear - true, axis=(1, 2)) / np.linalg.norm(true, axis=(1, 2)))
    return np.stack(columns, axis=1)
