"""Matrices Q, K, V and W from a short description: {kind, scale, entries}."""

from collections.abc import Mapping

import numpy as np

from clusterlens.errors import UserError, choose


def identity(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    return np.eye(d)


def zero(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    return np.zeros((d, d))


def diagonal(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    return np.diag(checked(entries, (d,)))


def given(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    return checked(entries, (d, d))


def gaussian(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    """Independent standard normal entries."""
    return rng.standard_normal((d, d))


def positive(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    """Uniform entries in [0, 1]: by Perron and Frobenius the leading eigenvalue is simple and positive."""
    return rng.uniform(size=(d, d))


def symmetric(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    """(U + U^T) / 2 with U uniform in [0, 1]."""
    u = rng.uniform(size=(d, d))
    return (u + u.T) / 2


def semidefinite(rng: np.random.Generator, d: int, entries) -> np.ndarray:
    """U U^T with U uniform in [-1, 1]."""
    u = rng.uniform(-1, 1, (d, d))
    return u @ u.T


FIXED = {"identity": identity, "zero": zero, "diagonal": diagonal, "given": given}
RANDOM = {"gaussian": gaussian, "positive": positive, "symmetric": symmetric, "semidefinite": semidefinite}
MATRICES = FIXED | RANDOM


def checked(entries, shape: tuple[int, ...]) -> np.ndarray:
    """The entries as an array of that shape, or a refusal that says what shape is needed."""
    try:
        array = np.asarray(entries, dtype=float)
    except (TypeError, ValueError):
        raise UserError(
            f"matrix entries {entries!r} are not numbers: give {' x '.join(map(str, shape))} of them"
        ) from None
    if array.shape != shape:
        raise UserError(f"matrix entries have shape {array.shape}, but the dimension asks for {shape}")
    return array


def described(spec: str | Mapping) -> dict:
    """The description written out; a bare word stands for {kind: word}."""
    given = {"kind": spec} if isinstance(spec, str) else dict(spec)
    return {"kind": "identity", "scale": 1.0, "entries": None} | given


def check(spec: str | Mapping, *, d: int) -> None:
    """Refuse entries that do not fit the dimension, without drawing anything."""
    spec = described(spec)
    choose("matrix", spec["kind"], MATRICES)
    if spec["kind"] in FIXED:
        FIXED[spec["kind"]](np.random.default_rng(), d, spec["entries"])


def is_random(spec: str | Mapping) -> bool:
    """Whether every seed has a matrix of its own."""
    return described(spec)["kind"] in RANDOM


def build(spec: str | Mapping, rng: np.random.Generator, *, heads: int, d: int) -> np.ndarray:
    """The matrices of all heads, (H, d, d)."""
    spec = described(spec)
    make = choose("matrix", spec["kind"], MATRICES)
    return np.stack([float(spec["scale"]) * make(rng, d, spec["entries"]) for _ in range(heads)])
