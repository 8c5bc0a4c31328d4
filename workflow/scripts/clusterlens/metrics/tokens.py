"""How alike the tokens of one image are, streamed over images: mean cosine and effective rank."""

import numpy as np
import torch

from clusterlens.metrics.order import mean_cosine
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank


class TokenSimilarity:
    """Averages over images. A token without a spike has no direction: it is left out and counted in `silent`.

    cosine = mean over i != j of <x_i, x_j> / (|x_i| |x_j|); rank = exp H(λ / Σλ), λ the eigenvalues of Σ_i x_i x_i^T,
    not centred, so that tokens that all point one way have rank 1.
    """

    def __init__(self):
        self.cosines, self.ranks, self.silent = [], [], []

    def add(self, tokens: torch.Tensor) -> None:  # (B, N, D)
        x = tokens.double().cpu().numpy()
        n = x.shape[1]
        active = (x != 0).any(-1).sum(-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Zero vectors add nothing to the sum over pairs: divide by the pairs that both have a direction.
            self.cosines += [*(mean_cosine(x) * (n * (n - 1)) / np.where(active > 1, active * (active - 1), np.nan))]
        rank = effective_rank(covariance_spectrum(x, centred=False))
        self.ranks += [*np.where(active > 0, rank, np.nan)]
        self.silent += [*(1 - active / n)]

    def measures(self) -> dict[str, float]:
        return {
            "mean_cosine": finite_mean(self.cosines),
            "effective_rank": finite_mean(self.ranks),
            "silent_tokens": finite_mean(self.silent),
        }


def finite_mean(values: list[float]) -> float:
    finite = np.array(values)[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else np.nan
