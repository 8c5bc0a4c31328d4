"""Words that a language model has to guess."""

from typing import Protocol

import numpy as np
import torch

from clusterlens.models.masked_loss import IGNORED

SHOWN_MASKED, SHOWN_RANDOM = 0.8, 0.1  # of the tokens to guess; the others are shown as they are


class Words(Protocol):
    """What masking has to know of a tokenizer."""

    @property
    def special(self) -> np.ndarray:
        """Tokens that are never guessed."""

    @property
    def mask(self) -> int: ...

    @property
    def vocabulary(self) -> int: ...


def masked(
    tokens: torch.Tensor, words: Words, *, ratio: float, draw: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """BERT's masking: what the model sees, and its targets, at least one of them."""
    seen, targets = tokens.numpy().copy(), np.full(tokens.shape, IGNORED, dtype=np.int64)
    lot = draw.random(tokens.shape)
    lot[np.isin(seen, words.special)] = np.inf
    chosen = lot < max(ratio, np.nextafter(lot.min(), 1))
    targets[chosen] = seen[chosen]
    fate = draw.random(tokens.shape)
    anything = draw.integers(words.vocabulary, size=tokens.shape)
    at_random = chosen & (fate >= SHOWN_MASKED) & (fate < SHOWN_MASKED + SHOWN_RANDOM)
    seen[chosen & (fate < SHOWN_MASKED)] = words.mask
    seen[at_random] = anything[at_random]
    return torch.from_numpy(seen), torch.from_numpy(targets)
