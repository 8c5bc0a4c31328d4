"""How alike the tokens of one text are, by their pairwise cosines (T Section 3.1.1), and the heads of one layer."""

import numpy as np

EDGES = np.linspace(-1, 1, 401)  # of histograms that are summed over texts
ALIKE = 0.9  # a pair above this cosine counts as alike


def pairs(cosines: np.ndarray) -> np.ndarray:
    """The cosines of all pairs i < j, (n, n) -> (n(n − 1)/2,)."""
    return cosines[np.triu_indices(len(cosines), 1)]


def histogram(cosines: np.ndarray) -> np.ndarray:
    """Counts of the pairs i < j between EDGES; the diagonal, n cosines of 1, is left out."""
    return np.histogram(pairs(cosines).clip(-1, 1), EDGES)[0]


def with_diagonal(counts: np.ndarray, tokens: int) -> np.ndarray:
    """The histogram of whole n x n matrices, as T draws it: every pair twice, and `tokens` in all at exactly 1."""
    whole = 2 * counts
    whole[-1] += tokens
    return whole


def density(counts: np.ndarray) -> np.ndarray:
    """Counts as a density: its integral over the cosine is 1."""
    return counts / (max(counts.sum(), 1) * np.diff(EDGES))


def moments(cosines: np.ndarray, *, diagonal: bool = False) -> dict[str, float]:
    """Mean, skewness m₃/m₂^1.5 and the share of alike ones among the pairs i < j; NaN for a single token.

    With the `diagonal` those of the whole matrix, as T counts.
    """
    values = cosines.ravel() if diagonal else pairs(cosines)
    if not len(values):
        return dict.fromkeys(("mean_cosine", "skewness", "share_alike"), np.nan)
    centred = values - values.mean()
    variance = (centred**2).mean()
    skewness = (centred**3).mean() / variance**1.5 if variance > 1e-12 else np.nan
    return {
        "mean_cosine": float(values.mean()),
        "skewness": float(skewness),
        "share_alike": float((values > ALIKE).mean()),
    }


def mean_correlation(per_text: np.ndarray) -> np.ndarray:
    """(texts, heads, heads) -> (heads, heads), over the texts in which both maps vary; NaN where there is none."""
    varies = np.isfinite(per_text)
    total, counted = np.where(varies, per_text, 0).sum(0), varies.sum(0)
    return np.divide(total, counted, out=np.full(total.shape, np.nan), where=counted > 0)
