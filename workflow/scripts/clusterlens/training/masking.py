"""Words that a language model has to guess."""

from collections.abc import Collection

import numpy as np
import torch

IGNORED = -100  # marks words that the loss leaves out
SHOWN_MASKED, SHOWN_RANDOM = 0.8, 0.1  # of the words to guess; the others are shown as they are


def masked(
    tokens: torch.Tensor,
    *,
    special: Collection[int],
    mask: int,
    vocabulary: int,
    ratio: float,
    draw: np.random.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:
    """BERT's masking: what the model sees, and its targets, at least one of them."""
    seen, targets = tokens.numpy().copy(), np.full(tokens.shape, IGNORED, dtype=np.int64)
    lot = draw.random(tokens.shape)
    lot[np.isin(seen, list(special))] = np.inf
    chosen = lot < max(ratio, np.nextafter(lot.min(), 1))
    targets[chosen] = seen[chosen]
    fate = draw.random(tokens.shape)
    anything = draw.integers(vocabulary, size=tokens.shape)
    at_random = chosen & (fate >= SHOWN_MASKED) & (fate < SHOWN_MASKED + SHOWN_RANDOM)
    seen[chosen & (fate < SHOWN_MASKED)] = mask
    seen[at_random] = anything[at_random]
    return torch.from_numpy(seen), torch.from_numpy(targets)
