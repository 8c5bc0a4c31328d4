"""Tables: the columns that a paper uses, checked, and the balanced sample that it draws."""

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


def balanced_sample(table: pd.DataFrame, label: str, per_class: int, seed: int) -> pd.DataFrame:
    """Up to `per_class` rows of each class, drawn without replacement and put into one random order.

    Deviation: A draws a balanced 1,024 from the heart table, which has only 499 negatives: 512 + 499 is the most.
    """
    generator = np.random.default_rng(seed)
    rows = [generator.permutation(np.flatnonzero(table[label] == value))[:per_class] for value in (0, 1)]
    return table.iloc[generator.permutation(np.concatenate(rows))].reset_index(drop=True)
