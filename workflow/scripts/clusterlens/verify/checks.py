"""The checks that claims name: small functions from an item's numbers to yes or no, with what we found.

Each takes a table with the columns `row`, `column`, `value`, `spread` and `verdict` (that of the comparison with the
published number), then keyword arguments from published/claims.yaml.
"""

import inspect
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from clusterlens.errors import UserError, nearest
from clusterlens.verify.numbers import as_number, same, shown


class Missing(Exception):
    """The item's numbers lack the row or the column that a check asks for."""


@dataclass(frozen=True)
class Outcome:
    held: bool
    ours: str


# Reading the table


def cell(table: pd.DataFrame, row: str, column: str) -> pd.Series:
    found = table[(table["row"] == row) & (table["column"] == column)]
    if found.empty or pd.isna(found.iloc[0]["value"]):
        raise Missing(f"no number in row '{row}', column '{column}'")
    return found.iloc[0]


def number(table: pd.DataFrame, row: str, column: str) -> float:
    value = as_number(cell(table, row, column)["value"])
    if value is None:
        raise Missing(f"a text, not a number, in row '{row}', column '{column}'")
    return value


def spread(table: pd.DataFrame, row: str, column: str) -> float:
    """Half-width over seeds; 0 where there is only one."""
    value = as_number(cell(table, row, column)["spread"])
    return 0.0 if value is None else value


def as_list(rows: str | list[str]) -> list[str]:
    return [rows] if isinstance(rows, str) else rows


def describe(values: dict[str, float], column: str) -> str:
    """`column: row value, row value`."""
    return f"{column}: " + ", ".join(f"{row} {value:.4g}" for row, value in values.items())


def every(table: pd.DataFrame, row: str | list[str], column: str, test: Callable[[float], bool]) -> Outcome:
    values = {name: number(table, name, column) for name in as_list(row)}
    return Outcome(all(map(test, values.values())), describe(values, column))


def series(table: pd.DataFrame, prefix: str, column: str) -> dict[str, float]:
    """The rows `<prefix><number>` of a column, in the order of that number."""
    labels = table.loc[table["column"] == column, "row"]
    found = {label: re.fullmatch(re.escape(prefix) + r"([-+.\de]+)", label) for label in labels}
    places = {label: float(match[1]) for label, match in found.items() if match}
    ordered_labels = sorted(places, key=places.__getitem__)
    if len(ordered_labels) < 2:
        raise Missing(f"fewer than two rows '{prefix}<number>' in column '{column}'")
    return {label: number(table, label, column) for label in ordered_labels}


# One number


def equals(table: pd.DataFrame, *, row: str | list[str], column: str, value: float) -> Outcome:
    """Exactly this number."""
    return every(table, row, column, lambda ours: same(ours, value))


def text_equals(table: pd.DataFrame, *, row: str, column: str, value: str) -> Outcome:
    """Exactly this text."""
    ours = cell(table, row, column)["value"]
    return Outcome(same(ours, value), f"{column}: {row} {shown(ours)}")


def within(table: pd.DataFrame, *, row: str | list[str], column: str, value: float, tolerance: float) -> Outcome:
    """This number, give or take the tolerance."""
    return every(table, row, column, lambda ours: abs(ours - value) <= tolerance)


def at_least(table: pd.DataFrame, *, row: str | list[str], column: str, value: float) -> Outcome:
    return every(table, row, column, lambda ours: ours >= value)


def at_most(table: pd.DataFrame, *, row: str | list[str], column: str, value: float) -> Outcome:
    return every(table, row, column, lambda ours: ours <= value)


def between(table: pd.DataFrame, *, row: str | list[str], column: str, low: float, high: float) -> Outcome:
    return every(table, row, column, lambda ours: low <= ours <= high)


# Several rows


def ordered(table: pd.DataFrame, *, rows: list[str], column: str, margin: float = 0.0) -> Outcome:
    """Each row larger than the next, by more than the margin and by more than the spread of the two over seeds."""
    values = {row: number(table, row, column) for row in rows}
    held = all(
        values[high] - values[low] > max(margin, np.hypot(spread(table, high, column), spread(table, low, column)))
        for high, low in itertools.pairwise(rows)
    )
    return Outcome(held, describe(values, column))


def difference_within(
    table: pd.DataFrame, *, row: str, minus: str, column: str, value: float, tolerance: float
) -> Outcome:
    """One row less another is this number, give or take the tolerance."""
    ours = number(table, row, column) - number(table, minus, column)
    return Outcome(abs(ours - value) <= tolerance, f"{column}: {row} less {minus} is {ours:.4g}")


def reduction_within(
    table: pd.DataFrame, *, row: str | list[str], base: str | list[str], column: str, value: float, tolerance: float
) -> Outcome:
    """By this many per cent smaller than the base, give or take the tolerance; several rows against as many bases."""
    pairs = list(zip(as_list(row), as_list(base), strict=True))
    ours = {name: 100 * (1 - number(table, name, column) / number(table, whole, column)) for name, whole in pairs}
    return Outcome(
        all(abs(found - value) <= tolerance for found in ours.values()), describe(ours, f"{column} saved, %")
    )


def ratio_at_least(table: pd.DataFrame, *, row: str, base: str, column: str, value: float) -> Outcome:
    """One row at least so many times another."""
    below = number(table, base, column)
    if below == 0:
        raise Missing(f"0 in row '{base}', column '{column}', so that there is no ratio")
    ours = number(table, row, column) / below
    return Outcome(ours >= value, f"{column}: {row} is {ours:.4g} times {base}")


def all_close(table: pd.DataFrame, *, rows: list[str], column: str, tolerance: float) -> Outcome:
    """Largest and smallest of the rows no further apart than the tolerance."""
    values = {row: number(table, row, column) for row in rows}
    return Outcome(max(values.values()) - min(values.values()) <= tolerance, describe(values, column))


def beyond_noise(table: pd.DataFrame, *, row: str | list[str], column: str) -> Outcome:
    """A gain whose interval over seeds lies above zero; without an interval nothing is shown."""
    gains = {name: (number(table, name, column), spread(table, name, column)) for name in as_list(row)}
    text = ", ".join(f"{name} {gain:+.3g} ± {width:.2g}" for name, (gain, width) in gains.items())
    return Outcome(all(width > 0 and gain > width for gain, width in gains.values()), f"{column}: {text}")


# Trends along `<prefix><number>`


def trend(values: dict[str, float]) -> float:
    """Spearman's rank correlation of the values with their order; 0 for a constant."""
    ours = list(values.values())
    return 0.0 if len(set(ours)) == 1 else float(spearmanr(range(len(ours)), ours).statistic)


def ends(values: dict[str, float], column: str) -> str:
    labels = list(values)
    first, last = labels[0], labels[-1]
    return f"{column}: {first} {values[first]:.4g} to {last} {values[last]:.4g}, rank correlation {trend(values):+.2f}"


def increases_with(table: pd.DataFrame, *, prefix: str, column: str, margin: float = 0.0) -> Outcome:
    """Grows along the rows: last above first by more than the margin, with a rank correlation of at least .5."""
    values = series(table, prefix, column)
    first, *_, last = values.values()
    return Outcome(last - first > margin and trend(values) >= 0.5, ends(values, column))


def decreases_with(table: pd.DataFrame, *, prefix: str, column: str, margin: float = 0.0) -> Outcome:
    """Falls along the rows, as `increases_with`."""
    values = series(table, prefix, column)
    first, *_, last = values.values()
    return Outcome(first - last > margin and trend(values) <= -0.5, ends(values, column))


def does_not_increase(table: pd.DataFrame, *, prefix: str, column: str, margin: float = 0.0) -> Outcome:
    """Stays or falls along the rows: the last exceeds the first by no more than the margin."""
    values = series(table, prefix, column)
    first, *_, last = values.values()
    return Outcome(last - first <= margin, ends(values, column))


# The whole item


def as_published(table: pd.DataFrame, *, columns: list[str] | None = None) -> Outcome:
    """Every published number of the item matched, or met within its tolerance."""
    judged = table[table["verdict"] != ""]
    if columns is not None:
        judged = judged[judged["column"].isin(columns)]
    if judged.empty or (judged["verdict"] == "not run").any():
        raise Missing("some published numbers have no counterpart in our result")
    good = judged["verdict"].isin(["match", "within tolerance"])
    waiting = int((judged["verdict"] == "needs paper scale").sum())
    note = f", {waiting} not comparable at this scale" if waiting else ""
    return Outcome(bool(good.all()), f"{int(good.sum())} of {len(judged)} numbers met{note}")


CHECKS: dict[str, Callable[..., Outcome]] = {
    check.__name__: check
    for check in (
        equals,
        text_equals,
        within,
        at_least,
        at_most,
        between,
        ordered,
        difference_within,
        reduction_within,
        ratio_at_least,
        all_close,
        beyond_noise,
        increases_with,
        decreases_with,
        does_not_increase,
        as_published,
    )
}


def check_arguments(claim: str, name: str, args: dict) -> None:
    """Refuse an unknown check, or arguments that it does not take, in one line."""
    if name not in CHECKS:
        raise UserError(f"claim {claim}: unknown check '{name}': {nearest(name, CHECKS)}")
    parameters = dict(itertools.islice(inspect.signature(CHECKS[name]).parameters.items(), 1, None))
    for given in args:
        if given not in parameters:
            raise UserError(f"claim {claim}: check '{name}' has no argument '{given}': {nearest(given, parameters)}")
    for needed, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and needed not in args:
            raise UserError(f"claim {claim}: check '{name}' needs the argument '{needed}'")
