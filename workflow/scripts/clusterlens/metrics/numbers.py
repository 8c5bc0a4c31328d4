"""An item's numbers: one row each with a value, its 95 % interval over seeds, how many there were and each of them."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from clusterlens.metrics.statistics import half_width, mean, mean_interval, share_interval

TIDY = ["row", "column", "value", "low", "high", "seeds", "by_seed"]
INTERVAL = " ±95%"  # behind the name of a column: the half-width of its 95 % interval over seeds


def number(row: str, column: str, values: Mapping | pd.Series | np.ndarray | float) -> dict:
    """The mean of a quantity over seeds (a mapping or a series names them, an array counts them).

    A plain number is exact: a setting, a count, or what no seed changes.
    """
    if not isinstance(values, Mapping | pd.Series) and np.ndim(values) == 0:
        return text(row, column, float(values))
    seeds = by_seed(values)
    found = mean_interval(np.array(list(seeds.values())))
    several = found.seeds > 1
    return {
        "row": row,
        "column": column,
        "value": found.value,
        "low": found.low if several else np.nan,
        "high": found.high if several else np.nan,
        "seeds": found.seeds,
        "by_seed": as_text(seeds),
    }


def share(row: str, column: str, happened: Mapping | pd.Series | np.ndarray) -> dict:
    """The share of seeds in which something happened, with Wilson's interval."""
    seeds = by_seed(happened)
    hits, count = int(sum(seeds.values())), len(seeds)
    low, high = share_interval(hits, count)
    entry = {"row": row, "column": column, "value": hits / count, "low": low, "high": high, "seeds": count}
    return entry | {"by_seed": as_text(seeds)}


def by_seed(values: Mapping | pd.Series | np.ndarray | float) -> dict[int, float]:
    if isinstance(values, Mapping | pd.Series):
        return {int(seed): float(value) for seed, value in values.items()}
    return dict(enumerate(np.atleast_1d(np.asarray(values, dtype=float)).tolist()))


def as_text(seeds: dict[int, float]) -> str:
    return " ".join(f"{seed}:{value:.7g}" for seed, value in seeds.items())


def from_text(text: str) -> dict[int, float]:
    """What `as_text` wrote."""
    pairs = (entry.split(":") for entry in text.split())
    return {int(seed): float(value) for seed, value in pairs}


def text(row: str, column: str, value: object) -> dict:
    """A cell that is printed rather than measured: a setting, or an exact count."""
    return {"row": row, "column": column, "value": value, "low": np.nan, "high": np.nan, "seeds": 1, "by_seed": ""}


def numbers(row: str, quantities: pd.DataFrame | Mapping) -> list[dict]:
    """One number per column of `quantities`, whose rows are seeds."""
    return [number(row, column, quantities[column]) for column in quantities]


def cells(table: pd.DataFrame) -> list[dict]:
    """The cells of a table of exact values, with its row labels in the first column."""
    label, *columns = table.columns
    return [text(line[label], column, line[column]) for line in table.to_dict("records") for column in columns]


def tidy(rows: Iterable[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=TIDY)


def over_seeds(groups) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and half-width of the 95 % interval of every column of grouped rows, each row a seed."""
    return groups.agg(lambda column: mean(column.to_numpy(float))), groups.agg(
        lambda column: half_width(column.to_numpy(float))
    )


def with_interval(means: pd.DataFrame, intervals: pd.DataFrame, decimals: Mapping[str, int]) -> pd.DataFrame:
    """Means as a table of the columns in `decimals`, each followed by its interval where there is one."""
    table = pd.DataFrame(index=means.index)
    for column, digits in decimals.items():
        if column in means:
            table[column] = means[column].round(digits)
            if intervals[column].notna().any():
                table[f"{column}{INTERVAL}"] = intervals[column].round(digits)
    return table
