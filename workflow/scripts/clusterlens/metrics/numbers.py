"""An item's numbers: one row each with a value, its spread over seeds and how many seeds there were."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

TIDY = ["row", "column", "value", "spread", "seeds"]
SPREAD = " ±"  # behind the name of a column: the spread of that column


def mean(values: np.ndarray) -> float:
    """Over the finite values: systems without the quantity (no clusters) drop out."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else np.nan


def spread(values: np.ndarray) -> float:
    """Standard deviation of the finite values; NaN where there are fewer than two."""
    finite = values[np.isfinite(values)]
    return float(finite.std(ddof=1)) if len(finite) > 1 else np.nan


def number(row: str, column: str, values: np.ndarray | float) -> dict:
    """One number: a quantity over seeds, or a single setting."""
    seeds = np.atleast_1d(np.asarray(values, dtype=float))
    count = int(np.isfinite(seeds).sum())
    return {"row": row, "column": column, "value": mean(seeds), "spread": spread(seeds), "seeds": count}


def numbers(row: str, quantities: pd.DataFrame | Mapping) -> list[dict]:
    """One number per column of `quantities`, whose rows are seeds."""
    return [number(row, column, quantities[column]) for column in quantities]


def tidy(rows: Iterable[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=TIDY)


def over_seeds(groups) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and spread of every column of grouped rows, each row a seed."""
    return groups.agg(lambda column: mean(column.to_numpy(float))), groups.agg(
        lambda column: spread(column.to_numpy(float))
    )


def with_spread(means: pd.DataFrame, spreads: pd.DataFrame, decimals: Mapping[str, int]) -> pd.DataFrame:
    """Means as a table of the columns in `decimals`, each followed by its spread where there is one."""
    table = pd.DataFrame(index=means.index)
    for column, digits in decimals.items():
        if column in means:
            table[column] = means[column].round(digits)
            if spreads[column].notna().any():
                table[f"{column}{SPREAD}"] = spreads[column].round(digits)
    return table


def melt(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its row labels in the first column as tidy numbers, all cells texts."""
    label, *columns = table.columns
    empty = pd.Series("", index=table.index)
    blocks = [
        pd.DataFrame(
            {
                "row": table[label].str.strip(),
                "column": column,
                "value": table[column],
                "spread": table.get(f"{column}{SPREAD}", empty),
                "seeds": "",
            }
        )
        for column in columns
        if not column.endswith(SPREAD)
    ]
    return pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame(columns=TIDY)
