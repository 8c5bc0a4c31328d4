"""The spectrum of a cloud of tokens: covariance eigenvalues, centred or not, and how many directions they amount to."""

import numpy as np
import pandas as pd


def covariance_spectrum(x: np.ndarray, *, centred: bool = True) -> np.ndarray:
    """Eigenvalues of the covariance of x (..., n, d) over its tokens, largest first: (..., min(n, d)).

    Centred: Σ (x − μ)(x − μ)^T/(n − 1), as numpy.cov. Not centred: Σ x x^T/n. From singular values, so none is
    negative.
    """
    n = x.shape[-2]
    shifted = x - x.mean(axis=-2, keepdims=True) if centred else x
    return np.linalg.svd(shifted, compute_uv=False) ** 2 / (n - 1 if centred else n)


def effective_rank(eigenvalues: np.ndarray) -> np.ndarray:
    """exp of the entropy of λ/Σλ (Roy and Vetterli 2007), along the last axis: 1 for a line, d for a ball."""
    total = eigenvalues.sum(axis=-1, keepdims=True)
    share = eigenvalues / np.where(total > 0, total, 1)
    return np.exp(-(share * np.log(np.where(share > 0, share, 1))).sum(axis=-1))


def gaps(spectra: pd.DataFrame) -> pd.DataFrame:
    """λ1/λk of the centred covariance: one row per iteration, one column for each rank k > 1."""
    centred = spectra[spectra["covariance"] == "centred"]
    table = centred.pivot(index="iteration", columns="rank", values="eigenvalue")
    return pd.DataFrame({rank: table[1] / table[rank] for rank in table.columns if rank > 1})
