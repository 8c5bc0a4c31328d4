"""Tokenised texts: all tokens of a split in one flat array, with the place where each text ends."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from clusterlens.data.formats import read_arrays
from clusterlens.data.subsets import balanced
from clusterlens.errors import UserError


@dataclass(frozen=True)
class Texts:
    """The tokenised texts of one split."""

    tokens: np.ndarray  # of all texts, one after the other
    ends: np.ndarray  # of each text
    labels: np.ndarray | None
    vocabulary: int
    pad: int
    mask: int
    special: np.ndarray  # start, padding and end, which are never masked

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, position: int) -> np.ndarray:
        start = self.ends[position - 1] if position else 0
        return self.tokens[start : self.ends[position]]

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.ends, prepend=0)

    def first(self, limit: int | None) -> "Texts":
        """At most `limit` texts: the first, or of labelled ones the first of each label in turn."""
        return self if limit is None or limit >= len(self) else self.take(self.chosen(limit))

    def held_out(self, limit: int | None) -> "Texts":
        """The texts that `first` leaves out, to choose settings on."""
        if limit is None or limit >= len(self):
            raise UserError(
                f"all {len(self):,} texts are used to train, none is held out: lower train_lines or train_texts"
            )
        return self.take(np.setdiff1d(np.arange(len(self)), self.chosen(limit)))

    def chosen(self, limit: int) -> np.ndarray:
        return np.arange(limit) if self.labels is None else balanced(self.labels, limit)

    def take(self, kept: np.ndarray) -> "Texts":
        tokens = np.concatenate([self[int(position)] for position in kept])
        labels = None if self.labels is None else self.labels[kept]
        return replace(self, tokens=tokens, ends=np.cumsum(self.lengths[kept]), labels=labels)


def load_texts(path: str | Path, split: str, *, labelled: bool) -> Texts:
    """One split of what rule tokenize_text wrote."""
    names = ["tokens", "ends", *(["labels"] if labelled else [])]
    found = read_arrays(Path(path), [*(f"{split}_{name}" for name in names), "vocabulary", "pad", "mask", "special"])
    return Texts(
        tokens=found[f"{split}_tokens"],
        ends=found[f"{split}_ends"],
        labels=found[f"{split}_labels"] if labelled else None,
        vocabulary=int(found["vocabulary"]),
        pad=int(found["pad"]),
        mask=int(found["mask"]),
        special=found["special"],
    )
