"""The spectrum of a cloud of tokens: covariance eigenvalues, centred or not, and how many directions they amount to."""

import numpy as np
import pandas as pd

WIDE = 64  # from here on eigenvalues of the smaller Gram matrix, several times faster than singular values


def covariance_spectrum(x: np.ndarray, *, centred: bool = True) -> np.ndarray:
    """Eigenvalues of the covariance of x (..., n, d) over its tokens, largest first: (..., min(n, d)).

    Centred: Σ (x − μ)(x − μ)^T/(n − 1), as numpy.cov. Not centred: Σ x x^T/n. None is negative. Of clouds with more
    than 64 tokens and dimensions, those below 1e-15 of the largest are rounding.
    """
    n, d = x.shape[-2:]
    shifted = x - x.mean(axis=-2, keepdims=True) if centred else x
    if min(n, d) <= WIDE:
        squares = np.linalg.svd(shifted, compute_uv=False) ** 2
    else:
        turned = shifted.swapaxes(-1, -2)
        gram = shifted @ turned if n <= d else turned @ shifted
        squares = np.linalg.eigvalsh(gram)[..., ::-1].clip(min=0)
    return squares / (n - 1 if centred else n)


def effective_rank(eigenvalues: np.ndarray) -> np.ndarray:
    """exp of the entropy of λ/Σλ (Roy and Vetterli 2007), along the last axis: 1 for a line, d for a ball."""
    total = eigenvalues.sum(axis=-1, keepdims=True)
    share = eigenvalues / np.where(total > 0, total, 1)
    return np.exp(-(share * np.log(np.where(share > 0, share, 1))).sum(axis=-1))


GAPS = {f"log10 lambda{i}/lambda{j}": (i, j) for i, j in ((1, 2), (2, 3), (1, 3))}
ROUNDING = 1e-30  # of the leading eigenvalue: what is smaller is rounding


def gaps(spectra: pd.DataFrame) -> pd.DataFrame:
    """log10 λi/λj of the centred covariance: a row for each iteration and seed, a column for each pair of `GAPS`.

    Logarithms, because over samples the ratios span decades.
    """
    centred = spectra[spectra["covariance"] == "centred"]
    table = centred.pivot(index=["iteration", "seed"], columns="rank", values="eigenvalue")
    logs = np.log10(np.maximum(table, ROUNDING * table[[1]].to_numpy()))
    return pd.DataFrame({name: logs[i] - logs[j] for name, (i, j) in GAPS.items()})


def shape(ratios: pd.DataFrame) -> pd.DataFrame:
    """Whether a cloud with these `gaps` is a `plane` (λ1/λ2 ≤ 10, λ2/λ3 ≥ 100) or a `line` (λ1/λ2 ≥ 100)."""
    first, second = ratios["log10 lambda1/lambda2"], ratios["log10 lambda2/lambda3"]
    return pd.DataFrame({"plane": (first <= 1) & (second >= 2), "line": first >= 2})
