"""The matrices of each attention head, and the spectra that the particle theory is about.

Symbols as in the papers, for tokens x_i in R^d and head m of width k: query, key, value W_Q, W_K, W_V (k, d), output
W_O (d, k), the head's columns of the output projection. Every d x d matrix here has rank k and is never formed.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from clusterlens.errors import UserError
from clusterlens.probing.architectures import parts


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
        matrices = {name: getattr(self, name)[rows] for name in ("query", "key", "value", "output")}
        return replace(self, **matrices)

    def value_matrix(self, head: int) -> Tensor:
        """V_m as a full matrix, (d, d); for looking at, not for computing with."""
        # V_m = W_O W_V:  head m adds sum_j P_ij V_m x_j to token i
        return self.output[head] @ self.value[head]


@torch.no_grad()
def heads_of(model: PreTrainedModel, layer: int = 0, *, global_rows: bool = False) -> Heads:
    """All heads of a layer, counted from 0; `global_rows` takes the projections of Longformer's global tokens."""
    all_parts = parts(model)
    if not 0 <= layer < len(all_parts):
        raise UserError(f"layer {layer} does not exist: the model has layers 0 to {len(all_parts) - 1}")
    part = all_parts[layer]
    inputs = {"query": part.query, "key": part.key, "value": part.value}
    if global_rows:
        if model.config.model_type != "longformer":
            raise UserError(f"global rows are Longformer's: a {model.config.model_type} has none")
        inputs = {name: getattr(part.attention, f"{name}_global") for name in inputs}
    count = model.config.num_attention_heads
    split = {name: linear.weight.detach().double().unflatten(0, (count, -1)) for name, linear in inputs.items()}
    output = part.output.weight.detach().double().unflatten(1, (count, -1)).transpose(0, 1)
    return Heads(**split, output=output, scale=part.scale)


def value_eigenvalues(heads: Heads) -> np.ndarray:
    """The nonzero eigenvalues of every V_m, complex, largest magnitude first: (H, k)."""
    # W_O W_V (d x d) and W_V W_O (k x k) have the same nonzero eigenvalues.
    found = torch.linalg.eigvals(heads.value @ heads.output).cpu().numpy()
    order = np.lexsort((-found.imag, -np.round(np.abs(found), 12)), axis=-1)  # of a conjugate pair, +i first
    return np.take_along_axis(found, order, axis=-1)


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
