"""Who attends to whom: the strongest links of global attention and the tokens that lead."""

import math

import torch
from torch import Tensor


def weights(x: Tensor) -> Tensor:
    """P = softmax(X X^T/√d), (n, n), for drawing: keeps all n² entries."""
    return (x @ x.T / math.sqrt(x.shape[-1])).softmax(dim=-1)


def links(x: Tensor, *, least: float) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs (i, j), i ≠ j, with P_ij > least: positions i, positions j and strengths, strongest first."""
    strength = weights(x).fill_diagonal_(0)
    i, j = torch.nonzero(strength > least, as_tuple=True)
    order = strength[i, j].argsort(descending=True)
    return i[order], j[order], strength[i[order], j[order]]


def leaders(x: Tensor, labels: Tensor) -> Tensor:
    """Which tokens lead (n): in each cluster the one its members attend to most, Σ_i∈C P_ij, and its copies."""
    received = weights(x)
    lead = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for cluster in labels.unique():
        members = labels == cluster
        first = (received[members].sum(dim=0) * members).argmax()
        lead |= members & (x == x[first]).all(dim=-1)
    return lead


def share_of_leaders(i: Tensor, j: Tensor, lead: Tensor, labels: Tensor, *, strongest: int) -> float:
    """Of the strongest links (given strongest first), the share that ends at a leader of the token's own cluster."""
    i, j = i[:strongest], j[:strongest]
    return float((lead[j] & (labels[i] == labels[j])).double().mean())
