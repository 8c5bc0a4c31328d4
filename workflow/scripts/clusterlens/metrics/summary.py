"""Measures over samples, gathered into one table with a row per data set and pattern."""

import pandas as pd

from clusterlens.metrics.numbers import number, over_seeds, with_interval

CLASSES = ["within-class variance", "fall of within-class variance"]
CLASSES += ["same-class pairs above chance", "same-class pairs above start"]
INTERVAL_OF = [
    "silhouette",
    "accuracy",
    "coverage",
    "accuracy all clusters",
    "fragments",
    "share reassigned",
    "rand index",
]
INTERVAL_OF += CLASSES
COLUMNS = ["tokens", "window", "clusters", "silhouette", "dice", *INTERVAL_OF[1:], "effective rank"]


def read_measures(files: dict[str, str]) -> pd.DataFrame:
    """All measures in one table with the column `row`: `Data A global`, ..."""
    tables = [pd.read_csv(path).assign(data=name) for name, path in files.items()]
    measures = pd.concat(tables, ignore_index=True)
    return measures.assign(row=measures["data"] + " " + measures["pattern"])


def metrics_table(measures: pd.DataFrame) -> pd.DataFrame:
    """The mean of every measure over samples and its 95 % interval."""
    groups = measures.groupby(["row", "measure"], sort=False)["value"]
    rows = measures["row"].unique()
    means, intervals = (frame.unstack().reindex(rows) for frame in over_seeds(groups))
    shown = with_interval(
        means, intervals.reindex(columns=INTERVAL_OF).reindex(columns=COLUMNS), dict.fromkeys(COLUMNS, 4)
    )
    shown.insert(0, "samples", groups.count().unstack()["silhouette"])
    return shown.convert_dtypes().reset_index()


def metrics_numbers(measures: pd.DataFrame) -> list[dict]:
    """The same as numbers, with every sample."""
    groups = measures[measures["measure"].isin(COLUMNS)].groupby(["row", "measure"], sort=False)
    return [number(row, measure, part.set_index("seed")["value"]) for (row, measure), part in groups]
