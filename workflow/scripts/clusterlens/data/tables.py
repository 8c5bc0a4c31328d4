"""Tables: the columns that a paper uses, checked, and the samples drawn from them."""

from pathlib import Path

import numpy as np
import pandas as pd

from clusterlens.errors import UserError, nearest

LARGEST = 1e100  # of a number in a table or a matrix: squares of larger ones overflow
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_table(path: Path) -> pd.DataFrame:
    """A CSV file with a header and at least one row."""
    check_separator(path)
    try:
        table = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a readable CSV file ({reason}); save it as UTF-8 CSV with a header") from None
    if table.empty:
        raise UserError(f"{path}: the table is empty; a header and rows are needed")
    return table


def check_separator(path: Path) -> None:
    """Refuse a file whose first line is not separated by commas, and name what separates it."""
    with path.open("rb") as stream:
        first = stream.readline().decode("utf-8", errors="replace")
    for sign, name in SEPARATORS.items():
        if sign in first and first.count(sign) > first.count(","):
            raise UserError(f"{path}: its columns are separated by {name}; save it with commas, and points in decimals")


def bad_cells(column: pd.Series) -> pd.Series:
    """The cells of a column that are there but are not numbers."""
    return column[column.notna() & pd.to_numeric(column, errors="coerce").isna()]


def check_numbers(column: pd.Series, name: str, advice: str) -> None:
    """Refuse a column with cells that are not numbers, or too large to compute with; the first of them is named."""
    if not pd.api.types.is_numeric_dtype(column):
        first = bad_cells(column).iloc[:1]
        where = "".join(f": '{value}' in line {row + 2}" for row, value in first.items())
        raise UserError(f"{name}: column '{column.name}' is not numeric{where}; {advice}")
    largest = column[np.isfinite(column.astype(float))].abs().max()
    if largest > LARGEST:
        raise UserError(f"{name}: column '{column.name}' has {largest:.3g}, too large to compute with; {advice}")


def select(table: pd.DataFrame, features: list[str], label: str, name: str) -> pd.DataFrame:
    """Features and label under the names of the config; the two publications of the diabetes table differ in case only.

    The label becomes 0 and 1, in the order of its two values.
    """
    selected = pd.DataFrame({column: pick(table, column, name) for column in [*features, label]})
    for feature in features:
        check_numbers(selected[feature], name, "mend it, or choose other features in the config")
    bad = selected.isin([np.inf, -np.inf]) | selected.isna()
    if bad.any(axis=None):
        rows, first = int(bad.any(axis=1).sum()), bad.any().idxmax()
        raise UserError(f"{name}: {rows} rows without a finite value (first in '{first}'); remove or fill them first")
    classes = sorted(selected[label].unique())
    if len(classes) != 2:
        shown = ", ".join(map(str, classes[:5])) + (", ..." if len(classes) > 5 else "")
        plural = "class" if len(classes) == 1 else "classes"
        raise UserError(f"{name}: label '{label}' has {len(classes)} {plural} ({shown}); exactly two are needed")
    selected[label] = (selected[label] == classes[1]).astype(int)
    return selected


def pick(table: pd.DataFrame, column: str, name: str) -> pd.Series:
    """A column by its name or, when exactly one differs from it in case only, by that."""
    if column in table:
        return table[column]
    close = [other for other in table.columns if str(other).casefold() == column.casefold()]
    if len(close) == 1:
        return table[close[0]]
    raise UserError(f"{name}: the table has no column '{column}': {nearest(column, table.columns)}")


def draw_sample(table: pd.DataFrame, label: str, per_class: int | list[int], seed: int) -> pd.DataFrame:
    """Up to `per_class` rows of each class, drawn without replacement and put into one random order.

    Two numbers are for classes 0 and 1. Deviation: A calls its 1,024 rows of the heart table balanced, but only 499 of
    its 1,025 rows are of class 0; 499 + 525 gives the printed number.
    """
    generator = np.random.default_rng(seed)
    rows = [
        generator.permutation(np.flatnonzero(table[label] == value))[:count]
        for value, count in enumerate(class_sizes(per_class))
    ]
    return table.iloc[generator.permutation(np.concatenate(rows))].reset_index(drop=True)


def bootstrap_sample(table: pd.DataFrame, label: str, sizes: list[int], seed: int) -> pd.DataFrame:
    """As many rows of each class, made of distinct rows that are drawn with replacement, each with all its copies.

    The last one is cut to fit. Copies stay together because they are one observation, not several.
    """
    generator = np.random.default_rng(seed)
    numbers = table.groupby(list(table.columns), sort=True).ngroup().to_numpy()
    drawn = []
    for value, size in enumerate(sizes):
        rows = np.flatnonzero(table[label] == value)
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        copies = np.split(rows, np.flatnonzero(np.diff(numbers[rows])) + 1)
        chosen = generator.integers(len(copies), size=size)  # enough: each has at least one row
        drawn.append(np.concatenate([copies[index] for index in chosen])[:size])
    return table.iloc[generator.permutation(np.concatenate(drawn))].reset_index(drop=True)


def class_sizes(per_class: int | list[int]) -> list[int]:
    return [per_class, per_class] if isinstance(per_class, int) else per_class
