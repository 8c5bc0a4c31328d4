"""The matrices of each attention head, and the spectra that the particle theory is about.

Symbols as in the papers, for tokens x_i in R^d and head m of width k: query, key, value W_Q, W_K, W_V (k, d), output
W_O (d, k), the head's columns of the output projection. Every d x d matrix here has rank k and is never formed.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from clusterlens.data.formats import read_arrays, write_arrays
from clusterlens.errors import UserError

MATRICES = ("query", "key", "value", "output")


@dataclass(frozen=True)
class Heads:
    """Some or all heads of one layer, in float64."""

    query: Tensor  # (H, k, d)
    key: Tensor  # (H, k, d)
    value: Tensor  # (H, k, d)
    output: Tensor  # (H, d, k)
    scale: float  # of the scores: 1/√k, or 1 in T5

    def __len__(self) -> int:
        return len(self.query)

    @property
    def hidden(self) -> int:
        return self.query.shape[2]

    def only(self, *chosen: int) -> "Heads":
        """These heads alone, counted from 0."""
        for head in chosen:
            if not 0 <= head < len(self):
                raise UserError(f"head {head} does not exist: the layer has heads 0 to {len(self) - 1}")
        rows = list(chosen)
        matrices = {name: getattr(self, name)[rows] for name in MATRICES}
        return replace(self, **matrices)

    def value_matrix(self, head: int) -> Tensor:
        """V_m as a full matrix, (d, d); for looking at, not for computing with."""
        # V_m = W_O W_V:  head m adds sum_j P_ij V_m x_j to token i
        return self.output[head] @ self.value[head]

    def like(self, *, seed: int) -> "Heads":
        """Gaussian heads of the same shape, every matrix with the same Frobenius norm as ours."""
        drawn = torch.Generator().manual_seed(seed)
        matrices = {}
        for name in MATRICES:
            ours = getattr(self, name)
            gaussian = torch.randn(ours.shape, generator=drawn, dtype=ours.dtype).to(ours.device)
            size = torch.linalg.matrix_norm(ours, keepdim=True) / torch.linalg.matrix_norm(gaussian, keepdim=True)
            matrices[name] = gaussian * size
        return replace(self, **matrices)

    def save(self, path: str | os.PathLike) -> None:
        """In single precision, which is what checkpoints have at most."""
        matrices = {name: getattr(self, name).cpu().numpy().astype(np.float32) for name in MATRICES}
        write_arrays(path, matrices | {"scale": np.array(self.scale)})

    @classmethod
    def load(cls, path: str | os.PathLike, *, device: torch.device | str = "cpu") -> "Heads":
        found = read_arrays(Path(path), (*MATRICES, "scale"))
        return cls(
            **{name: torch.as_tensor(found[name], dtype=torch.float64, device=device) for name in MATRICES},
            scale=float(found["scale"]),
        )


def value_eigenvalues(heads: Heads) -> np.ndarray:
    """The nonzero eigenvalues of every V_m, complex, largest magnitude first: (H, k)."""
    # W_O W_V (d x d) and W_V W_O (k x k) have the same nonzero eigenvalues.
    found = torch.linalg.eigvals(heads.value @ heads.output).cpu().numpy()
    order = np.lexsort((-found.imag, -np.round(np.abs(found), 12)), axis=-1)  # of a conjugate pair, +i first
    return np.take_along_axis(found, order, axis=-1)


def sum_eigenvalues(heads: Heads) -> np.ndarray:
    """The eigenvalues of sum_m V_m, complex, (min(d, H·k),): those of a common attention matrix for all heads."""
    # sum_m W_O^m W_V^m = O V with O (d, H·k) and V (H·k, d); V O has the same nonzero eigenvalues.
    output, value = heads.output.transpose(0, 1).flatten(1), heads.value.flatten(0, 1)
    product = output @ value if heads.hidden <= len(value) else value @ output
    return torch.linalg.eigvals(product).cpu().numpy()


def leading(eigenvalues: np.ndarray, count: int = 3) -> np.ndarray:
    """Real parts of the first eigenvalues by magnitude: the diagonal of V in T Figs. 7 and 8."""
    return eigenvalues[..., :count].real


def effective_beta(heads: Heads) -> np.ndarray:
    """√d · |B_m|_F of every head, (H,): the inverse temperature for tokens of norm √d."""
    # B_m = scale · (W_Q^T W_K + W_K^T W_Q) / 2
    # |B_m|_F² = scale²/2 · ( tr(W_Q W_Q^T W_K W_K^T) + tr(W_K W_Q^T W_K W_Q^T) ),  products of k x k matrices
    q, k = heads.query, heads.key
    mixed = k @ q.mT  # (H, k, k)
    straight = ((q @ q.mT) * (k @ k.mT)).sum((1, 2))
    crossed = (mixed * mixed.mT).sum((1, 2))
    square = heads.scale**2 / 2 * (straight + crossed)
    return (heads.hidden * square.clamp(min=0)).sqrt().cpu().numpy()
