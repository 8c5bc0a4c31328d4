"""Who attends to whom: the strongest links of global attention and the tokens that lead."""

import numpy as np
import pandas as pd


def weights(x: np.ndarray) -> np.ndarray:
    """P = softmax(X X^T/√d), (n, n), for drawing: keeps all n² entries."""
    scores = x @ x.T / np.sqrt(x.shape[-1])
    exponential = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


def links(x: np.ndarray, *, threshold: float) -> pd.DataFrame:
    """Pairs (i, j), i ≠ j, with P_ij > threshold as `token`, `attends to` and `strength`, strongest first."""
    strength = weights(x)
    np.fill_diagonal(strength, 0)
    i, j = np.nonzero(strength > threshold)
    order = np.argsort(-strength[i, j], kind="stable")
    i, j = i[order], j[order]
    return pd.DataFrame({"token": i, "attends to": j, "strength": strength[i, j]})


def leaders(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which tokens lead (n): in each cluster the one its members attend to most, Σ_i∈C P_ij, and its copies."""
    received = weights(x)
    lead = np.zeros(len(x), dtype=bool)
    for cluster in np.unique(labels):
        members = labels == cluster
        first = (received[members].sum(axis=0) * members).argmax()
        lead |= members & (x == x[first]).all(axis=-1)
    return lead


def share_of_leaders(strongest: pd.DataFrame, lead: np.ndarray, labels: np.ndarray) -> float:
    """Of these links, the share that ends at a leader of the token's own cluster."""
    i, j = strongest["token"], strongest["attends to"]
    return float((lead[j] & (labels[i] == labels[j])).mean())
