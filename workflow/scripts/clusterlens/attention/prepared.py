"""The study's data sets as they were prepared: the picture with its mask, and tables with a sample drawn from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlens.attention.tokens import Tokens, of_pixels
from clusterlens.data.formats import read_picture
from clusterlens.data.tables import bootstrap_sample, draw_sample
from clusterlens.files import read_json
from clusterlens.metrics.standard import zscore


def picture_tokens(picture: str, *_) -> Tokens:
    """The pixels of the prepared picture."""
    return of_pixels(*read_picture(Path(picture)))


@dataclass(frozen=True)
class Table:
    """All rows, the sample that was drawn first, and which columns are features and label."""

    rows: pd.DataFrame
    sample: pd.DataFrame
    features: list[str]
    label: str

    @classmethod
    def load(cls, table: str, sample: str, manifest: str) -> "Table":
        facts = read_json(manifest)
        return cls(pd.read_csv(table), pd.read_csv(sample), facts["features"], facts["label"])

    def tokens(self, sample: pd.DataFrame | None = None) -> Tokens:
        """A sample as tokens, the prepared one by default; all rows tell which way each feature points."""
        drawn = self.sample if sample is None else sample
        signs = np.sign(self.rows[self.features].corrwith(self.rows[self.label]).to_numpy())
        x = zscore(drawn[self.features].to_numpy(float))
        labels = drawn[self.label].to_numpy()
        return Tokens(x, ordered=False, labels=labels, signs=signs, features=tuple(self.features))

    def samples(self, count: int, *, resample: str, seed: int) -> Iterator[tuple[int, Tokens]]:
        """`count` samples as tokens with the seeds they are drawn from: the prepared one, then others of its size.

        `draw` takes rows without replacement, `bootstrap` distinct rows with it: where a sample holds nearly all rows
        of a class, a second draw is nearly the same, and the spread between the two says nothing.
        """
        sizes = [int((self.sample[self.label] == value).sum()) for value in (0, 1)]
        draw = {"draw": draw_sample, "bootstrap": bootstrap_sample}[resample]
        yield seed, self.tokens()
        for further in range(seed + 1, seed + count):
            yield further, self.tokens(draw(self.rows, self.label, sizes, further))
