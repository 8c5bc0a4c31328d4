"""Batches of tokenised texts: padding, order, and buckets of similar length."""

import numpy as np
import torch

from clusterlens.data.tokens import Texts

BUCKET = 64  # batches in which texts are ordered by length


def padded(texts: Texts, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens (batch, longest) and where they are no padding."""
    rows = [texts[position] for position in chosen.tolist()]
    tokens = np.full((len(rows), max(map(len, rows))), texts.pad, dtype=np.int64)
    for line, row in zip(tokens, rows, strict=True):
        line[: len(row)] = row
    found = torch.from_numpy(tokens)
    return found, found != texts.pad


def bucketed(lengths: np.ndarray, batch: int, draw: np.random.Generator) -> list[torch.Tensor]:
    """Every position once, in batches of similar length: little is padded, and the order stays random.

    A random order is cut into buckets of many batches, each bucket is sorted by length, and the batches are shuffled.
    """
    order = draw.permutation(len(lengths))
    size = BUCKET * batch
    buckets = [order[start : start + size] for start in range(0, len(order), size)]
    ordered = [bucket[np.argsort(lengths[bucket], kind="stable")] for bucket in buckets]
    batches = [part for bucket in ordered for part in torch.from_numpy(bucket).split(batch)]
    return [batches[place] for place in draw.permutation(len(batches))]


def by_length(lengths: np.ndarray, batch: int) -> list[torch.Tensor]:
    """Every position once, from short to long."""
    return list(torch.from_numpy(np.argsort(lengths, kind="stable")).split(batch))
