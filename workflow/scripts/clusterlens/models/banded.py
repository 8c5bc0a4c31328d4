"""Attention within a band and to a few global tokens, for padded batches: O(n·w) in time and memory.

Shapes: query, key and value are (B, n, heads, d). Query i sees the real keys j with |i − j| ≤ half or j global.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from clusterlens.attention.blocks import HIDDEN
from clusterlens.models.dropout import dropped
from clusterlens.native import Library

KERNELS = Library(Path(__file__).with_name("banded.c"), flags=(), otherwise="banded attention runs on torch's kernel")
BLOCK = 64  # queries that torch's kernel handles together, at least: fewer make it slow
SHORT = 192  # up to so many tokens all pairs cost it no more than the band in blocks


@dataclass(frozen=True)
class Band:
    """Which keys each query of a batch sees: made once per batch, used by all layers."""

    mask: Tensor  # (B, n), True for real tokens
    half: int
    global_tokens: tuple[int, ...] = ()

    def attend(self, query: Tensor, key: Tensor, value: Tensor, *, scale: float, dropout: float = 0.0) -> Tensor:
        """softmax(scale · Q K^T) V over the visible keys, (B, n, heads, d); rows of padding mean nothing."""
        if KERNELS.usable(query):
            return BandedAttention.apply(query, key, value, self, scale, dropout)
        return self.attend_in_blocks(query, key, value, scale=scale, dropout=dropout)

    def attend_in_blocks(self, query: Tensor, key: Tensor, value: Tensor, *, scale: float, dropout: float) -> Tensor:
        """The same by torch's kernel for the device: each block of queries with all keys that one of them sees."""
        q, k, v = (t.flatten(0, 1).transpose(1, 2) for t in (self.queries(query), self.keys(key), self.keys(value)))
        mask = self.visible.flatten(0, 1)[:, None]
        out = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, dropout_p=dropout)
        return out.transpose(1, 2).unflatten(0, (len(query), -1)).flatten(1, 2)[:, : query.shape[1]]

    @cached_property
    def bias(self) -> Tensor:
        """What is added to the scores of each key, and of the global ones in places of their own, (B, n + g)."""
        return torch.where(torch.cat([self.local, self.mask[:, list(self.global_tokens)]], dim=1), 0.0, HIDDEN)

    @property
    def local(self) -> Tensor:
        """The keys that are seen within the band only, (B, n)."""
        local = self.mask.clone()
        local[:, list(self.global_tokens)] = False
        return local

    @property
    def block(self) -> int:
        """Queries in a block: all of a short text."""
        n = self.mask.shape[1]
        return n if n <= max(SHORT, self.half + 1) else max(self.half, BLOCK)

    @cached_property
    def visible(self) -> Tensor:
        """Which of the `keys` of its block a query sees, (B, blocks, block, keys), bool."""
        n, device, chosen = self.mask.shape[1], self.mask.device, list(self.global_tokens)
        row = torch.arange(self.block, device=device)[:, None]
        if self.block == n:
            near = (row - row.T).abs() <= self.half
            near[:, chosen] = True
            visible = (near & self.mask[:, None])[:, None]
        else:
            column = torch.arange(self.block + 2 * self.half, device=device)
            near = (column - self.half - row).abs() <= self.half
            beyond = (self.half, self.half + -n % self.block)
            reach = pad(self.local, beyond).unfold(1, len(column), self.block)  # (B, blocks, keys)
            seen = self.mask[:, None, None, chosen].expand(-1, reach.shape[1], self.block, -1)
            visible = torch.cat([seen, near & reach[:, :, None]], dim=-1)
        # Padding that sees nothing sees everything instead: a softmax over no key is not a number.
        return visible | ~visible.any(dim=-1, keepdim=True)

    def queries(self, x: Tensor) -> Tensor:
        """The rows of each block, (B, blocks, block, heads, d)."""
        return pad(x, (0, 0, 0, 0, 0, -x.shape[1] % self.block)).unflatten(1, (-1, self.block))

    def keys(self, x: Tensor) -> Tensor:
        """The rows that the queries of each block may see, the global ones first, (B, blocks, keys, heads, d)."""
        if self.block == x.shape[1]:
            return x[:, None]
        padded = pad(x, (0, 0, 0, 0, self.half, self.half + -x.shape[1] % self.block))
        reach = padded.unfold(1, self.block + 2 * self.half, self.block).movedim(-1, 2)
        chosen = x[:, None, list(self.global_tokens)].expand(-1, reach.shape[1], -1, -1, -1)
        return torch.cat([chosen, reach], dim=2)


class BandedAttention(torch.autograd.Function):
    """`Band.attend` by the kernels for a CPU, which keep no scores and compute them again on the way back."""

    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, band: Band, scale: float, dropout: float) -> Tensor:
        query, key, value = (t.contiguous() for t in (query, key, value))
        texts, n, heads, d = query.shape
        columns = 2 * band.half + 1 + len(band.global_tokens)
        gone = dropped(torch.Size([texts, heads, n, columns]), dropout) if dropout else None
        sizes = [texts, n, heads, d, band.half, len(band.global_tokens)]
        ctx.inputs = (band.bias.to(query.dtype), list(band.global_tokens), gone)
        ctx.settings = (sizes, scale, 1 / (1 - dropout))
        ctx.save_for_backward(query, key, value)
        out = torch.empty_like(query)
        KERNELS.call("attend", query.dtype, query, key, value, *ctx.inputs, out, *ctx.settings)
        return out

    @staticmethod
    def backward(ctx, *grads: Tensor):
        saved = ctx.saved_tensors
        slopes = [torch.zeros_like(t) for t in saved]
        by_out = grads[0].contiguous()
        KERNELS.call("gradient", by_out.dtype, *saved, *ctx.inputs, by_out, *slopes, *ctx.settings)
        return *slopes, None, None, None
