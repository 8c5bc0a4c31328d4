"""Softmax attention for many systems at once, without the n x n matrix wherever n is large.

Tokens of few dimensions on a CPU go through a C kernel; all others, and all where there is no compiler, through torch.
"""

from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from clusterlens.native import Library

DIMENSIONS = 8  # of a token; attention.c takes no more
DENSE_TOKENS = 128  # up to here the n x n weights of a whole batch are cheaper than one fused call per system
ROWS = 256  # rows of the n x n matrix held at once where no fused kernel exists
KERNELS = Library(
    Path(__file__).with_name("attention.c"),
    flags=("-ffp-contract=fast",),
    otherwise="attention among tokens runs on torch's own code",
)


def attend(q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False) -> Tensor:
    """softmax(q k^T) v, each row shifted by its maximum; token i sees only j <= i when causal.

    Which way is taken never depends on the number of systems, so that a batch and its systems one by one agree.
    """
    # q, k, v: (S, H, n, d), or with 1 for S or H where systems or heads share them
    if compilable(q, k, v):
        return attend_compiled(q, k, v, causal=causal)
    if q.shape[-2] <= DENSE_TOKENS:
        return (v.mT @ weights(q, k, causal=causal).mT).mT
    systems, heads = torch.broadcast_shapes(q.shape[:2], k.shape[:2], v.shape[:2])
    q, k, v = (part.expand(systems, heads, -1, -1).contiguous() for part in (q, k, v))
    return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=1.0)  # (S, H, n, d)


def compilable(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether the C kernel can do it: few dimensions, one precision, as many queries as keys, no gradient asked for."""
    return (
        q.shape[3] <= DIMENSIONS
        and q.shape[2:] == k.shape[2:] == v.shape[2:]
        and q.dtype == k.dtype == v.dtype
        and q.device == k.device == v.device
        and min(q.numel(), k.numel(), v.numel()) > 0
        and not (torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad))
        and KERNELS.usable(q)
    )


def attend_compiled(q: Tensor, k: Tensor, v: Tensor, *, causal: bool) -> Tensor:
    """The same through the C kernel, which wants the tokens of one dimension adjacent in memory."""
    systems, heads, n, d = map(max, q.shape, k.shape, v.shape)
    y = q.new_empty(heads, d, systems, n).permute(2, 0, 3, 1)
    parts = [*(part if part.stride(2) == 1 else part.mT.contiguous().mT for part in (q, k, v)), y]
    strides = []
    for part in parts:
        system, head, _, dimension = part.stride()
        strides += [system * (part.shape[0] > 1), head * (part.shape[1] > 1), dimension]
    KERNELS.call("attend", q.dtype, *parts, strides, systems, heads, n, d, int(causal))
    return y


def weights(q: Tensor, k: Tensor, *, causal: bool = False) -> Tensor:
    """The attention matrix P itself: P_ij = e^{<q_i, k_j>} / sum_l e^{<q_i, k_l>}."""
    logits = q @ k.mT  # (S, H, n, n)
    if causal:
        logits = logits.masked_fill(future(logits.shape[-1], logits.device), -torch.inf)
    return logits.softmax(-1)


@lru_cache(maxsize=8)
def future(n: int, device: torch.device) -> Tensor:
    """True where token i may not look at token j, that is j > i."""
    return torch.ones(n, n, dtype=torch.bool, device=device).triu(1)


def attend_unnormalised(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """(1/n) sum_j e^{<q_i, k_j>} v_j, a block of rows at a time so that memory grows with n."""
    n = q.shape[-2]
    blocks = [torch.exp(rows @ k.mT) @ v for rows in q.split(ROWS, dim=-2)]
    return torch.cat(blocks, dim=-2) / n  # (S, H, n, d)
