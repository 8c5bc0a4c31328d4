"""What a check looks at: an item's numbers with their seeds, and the outcome that it comes to."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlens.metrics.numbers import from_text
from clusterlens.metrics.statistics import Estimate, half_width, paired_difference, unpaired_difference
from clusterlens.verify.labels import rows_of_prefix
from clusterlens.verify.numbers import as_number


class Missing(Exception):
    """The item's numbers lack the row or the column that a check asks for."""


class Undefined(Missing):
    """The row and column are there, but hold no number, such as the correlation of heads that never fire."""


@dataclass(frozen=True)
class Outcome:
    """`held` is None where the seeds do not decide. `low` and `high` bound `value` with 95 % confidence.

    `comparable` is false where it is not the seeds: no fair comparison with some published number was possible.
    """

    held: bool | None
    value: str
    threshold: str
    low: float = math.nan
    high: float = math.nan
    seeds: int = 0
    comparable: bool = True


@dataclass(frozen=True)
class Number:
    value: float
    low: float
    high: float
    by_seed: dict[int, float]  # empty for an exact number
    seeds: int

    @property
    def range(self) -> tuple[float, float]:
        """What a limit is compared with: the interval of a mean over seeds; the value of all else."""
        mean = self.seeds > 1 and not set(self.by_seed.values()) <= {0, 1}
        return (self.low, self.high) if mean else (self.value, self.value)

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, half_width(np.array([*self.by_seed.values()])) if self.by_seed else 0.0, self.seeds)


class Numbers:
    """An item's numbers by row and column, with the verdicts of the comparison with the published ones."""

    def __init__(self, table: pd.DataFrame):
        self.table = table
        self.cells = {(line["row"], line["column"]): line for line in table.to_dict("records")}

    def text(self, row: str, column: str) -> str:
        cell = self.cells.get((row, column))
        if cell is None:
            raise Missing(f"no row '{row}', column '{column}'")
        if pd.isna(cell["value"]):
            raise Undefined(f"no number in row '{row}', column '{column}'")
        return cell["value"]

    def number(self, row: str, column: str) -> Number:
        value = as_number(self.text(row, column))
        if value is None:
            raise Missing(f"a text, not a number, in row '{row}', column '{column}'")
        cell = self.cells[row, column]
        low, high = (math.nan if (end := as_number(cell[name])) is None else end for name in ("low", "high"))
        seeds = from_text(cell["by_seed"] or "")
        return Number(value, low, high, seeds, max(1, len(seeds)))

    def difference(self, row: str, minus: str, column: str) -> Estimate:
        """One row minus another: exact, paired where they share their seeds, or unpaired; no interval for one seed."""
        one, other = self.number(row, column), self.number(minus, column)
        if not one.by_seed and not other.by_seed:
            return Estimate(one.value - other.value, 0.0, 1)
        if not one.by_seed or not other.by_seed:
            (seeds,) = (number.by_seed for number in (one, other) if number.by_seed)
            return Estimate(one.value - other.value, half_width(np.array([*seeds.values()])), len(seeds))
        if one.by_seed.keys() == other.by_seed.keys():
            return paired_difference(one.by_seed, other.by_seed)
        return unpaired_difference(np.array([*one.by_seed.values()]), np.array([*other.by_seed.values()]))

    def series(self, prefix: str, column: str) -> list[str]:
        """The rows `<prefix><number>` of a column, in the order of that number."""
        labels = rows_of_prefix(self.table.loc[self.table["column"] == column, "row"], prefix)
        if len(labels) < 2:
            raise Missing(f"fewer than two rows '{prefix}<number>' in column '{column}'")
        return labels
