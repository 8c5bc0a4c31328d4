"""Tables: the columns that a paper uses, checked, and the samples drawn from them."""

from pathlib import Path

import numpy as np
import pandas as pd

from clusterlens.errors import UserError, nearest


def read_table(path: Path) -> pd.DataFrame:
    """A CSV file with a header and at least one row."""
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


def select(table: pd.DataFrame, features: list[str], label: str, name: str) -> pd.DataFrame:
    """Features and label under the names of the config; the two publications of the diabetes table differ in case only.

    The label becomes 0 and 1, in the order of its two values.
    """
    selected = pd.DataFrame({column: pick(table, column, name) for column in [*features, label]})
    for feature in features:
        if not pd.api.types.is_numeric_dtype(selected[feature]):
            raise UserError(f"{name}: column '{feature}' is not numeric; choose other features in the config")
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
