"""Where the tokens start."""

from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def sphere(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Uniform on the unit sphere."""
    x = rng.standard_normal((n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def cube(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Uniform in [-1, 1]^d."""
    return rng.uniform(-1, 1, (n, d))


def gaussian(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Standard normal."""
    return rng.standard_normal((n, d))


def circle(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Uniform on the unit circle in the plane of the first two coordinates."""
    angle = rng.uniform(0, 2 * np.pi, n)
    x = np.zeros((n, d))
    x[:, 0], x[:, 1] = np.cos(angle), np.sin(angle)
    return x


def ball(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Uniform in the unit ball."""
    return sphere(rng, n, d) * rng.uniform(size=(n, 1)) ** (1 / d)


STARTS: dict[str, Draw] = {"sphere": sphere, "cube": cube, "gaussian": gaussian, "circle": circle, "ball": ball}
