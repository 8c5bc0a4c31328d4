"""Probes written the slow way: everything kept in memory, full matrices, one pair at a time."""

import numpy as np
import torch


def everything(model, ids: list[int], **options):
    """All hidden states (n, d) and all maps (H, n, n) of one text, by the model's own recording."""
    with torch.no_grad():
        given = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        answer = model(**given, **options, output_hidden_states=True, output_attentions=True)
    return [state[0].numpy() for state in answer.hidden_states], [maps[0].numpy() for maps in answer.attentions]


def correlation_of_pairs(maps: np.ndarray) -> np.ndarray:
    """(H, N, N) -> (H, H): numpy.corrcoef, pair by pair."""
    heads = len(maps)
    r = np.ones((heads, heads))
    for a in range(heads):
        for b in range(a):
            r[a, b] = r[b, a] = np.corrcoef(maps[a].ravel(), maps[b].ravel())[0, 1]
    return r


def cosines_of_pairs(x: np.ndarray) -> np.ndarray:
    """The cosines of all pairs i < j, one at a time."""
    n = len(x)
    found = [x[i] @ x[j] / np.linalg.norm(x[i]) / np.linalg.norm(x[j]) for i in range(n) for j in range(i + 1, n)]
    return np.array(found)


def full_flow(heads, x: np.ndarray, *, step: float, steps: int, symmetric: bool) -> np.ndarray:
    """Euler with d x d matrices: x_i' = sum_m sum_j softmax_j(x_i^T B_m x_j) V_m x_j."""
    for _ in range(steps):
        speed = np.zeros_like(x)
        for m in range(len(heads)):
            q, k = heads.query[m].numpy(), heads.key[m].numpy()
            b = heads.scale * q.T @ k
            b = (b + b.T) / 2 if symmetric else b
            v = heads.output[m].numpy() @ heads.value[m].numpy()
            scores = x @ b @ x.T
            p = np.exp(scores - scores.max(1, keepdims=True))
            speed += p / p.sum(1, keepdims=True) @ x @ v.T
        x = x + step * speed
    return x
