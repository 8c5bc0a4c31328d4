"""95 % intervals over seeds: Student's t for means and paired differences, Welch's for others, Wilson's for shares."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with the half-width of its 95 % interval; NaN where one seed gives none."""

    value: float
    interval: float
    seeds: int

    @property
    def low(self) -> float:
        return self.value - self.interval

    @property
    def high(self) -> float:
        return self.value + self.interval


def mean_interval(values: np.ndarray) -> Estimate:
    """x̄ ± t_{.975, n-1} s/√n over the finite values: systems without the quantity drop out, and the count says so."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    n = len(finite)
    if n == 0:
        return Estimate(np.nan, np.nan, 0)
    if n == 1:
        return Estimate(float(finite[0]), np.nan, 1)
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * finite.std(ddof=1) / np.sqrt(n)
    return Estimate(float(finite.mean()), float(half), n)


def mean(values: np.ndarray) -> float:
    return mean_interval(values).value


def half_width(values: np.ndarray) -> float:
    """Of the 95 % interval of the mean; NaN for one value."""
    return mean_interval(values).interval


def paired_difference(one: dict, other: dict) -> Estimate:
    """The mean of one − other over the seeds that both have."""
    shared = [seed for seed in one if seed in other]
    return mean_interval(np.array([one[seed] - other[seed] for seed in shared]))


def unpaired_difference(one: np.ndarray, other: np.ndarray) -> Estimate:
    """x̄ − ȳ ± t_{.975, ν} √(s²/n + r²/m), ν after Welch and Satterthwaite."""
    a, b = mean_interval(one), mean_interval(other)
    if min(a.seeds, b.seeds) < 2:
        return Estimate(a.value - b.value, np.nan, min(a.seeds, b.seeds))
    va, vb = np.nanvar(one, ddof=1) / a.seeds, np.nanvar(other, ddof=1) / b.seeds
    if va + vb == 0:
        return Estimate(a.value - b.value, 0.0, min(a.seeds, b.seeds))
    freedom = (va + vb) ** 2 / (va**2 / (a.seeds - 1) + vb**2 / (b.seeds - 1))
    half = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(va + vb)
    return Estimate(a.value - b.value, float(half), min(a.seeds, b.seeds))


def share_interval(hits: int, seeds: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share: both ends stay within 0 and 1, also where all seeds agree.

    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
    """
    z2, p = ndtri((1 + LEVEL) / 2) ** 2, hits / seeds
    middle, half = p + z2 / (2 * seeds), np.sqrt(z2 * (p * (1 - p) / seeds + z2 / (4 * seeds**2)))
    low, high = (middle - half) / (1 + z2 / seeds), (middle + half) / (1 + z2 / seeds)
    return (0.0 if hits == 0 else float(low)), (1.0 if hits == seeds else float(high))


def permutation_test(differences: np.ndarray) -> float:
    """Two-sided p of the mean of paired differences under all 2^n changes of sign, counted exactly.

    The sum over all seeds is one of 2^(n/2) sums over the first half plus one over the second, so that sorting the
    second half counts all pairs: 40 seeds need a million sums of each.
    """
    d = np.asarray(differences, dtype=float)
    first, second = (signed_sums(half) for half in np.array_split(d, 2))
    second.sort()
    limit = abs(d.sum()) - 1e-12 * max(1, len(d))
    if limit <= 0:
        return 1.0
    above = len(second) - np.searchsorted(second, limit - first, side="left")
    below = np.searchsorted(second, -limit - first, side="right")
    return float((above.sum() + below.sum()) / (len(first) * len(second)))


def signed_sums(values: np.ndarray) -> np.ndarray:
    """The sums of ±values, one for each choice of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
