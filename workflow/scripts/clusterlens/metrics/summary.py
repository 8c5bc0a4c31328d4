"""Measures over samples, gathered into one table with a row per data set and pattern."""

import pandas as pd

from clusterlens.metrics.numbers import over_seeds, with_spread

SPREAD_OF = ["silhouette", "accuracy", "coverage", "accuracy all clusters", "fragments", "share away", "rand index"]
COLUMNS = ["tokens", "window", "clusters", "silhouette", "dice", *SPREAD_OF[1:], "effective rank"]


def metrics_table(files: dict[str, str]) -> pd.DataFrame:
    """`Data A global`, ...: the mean of every measure over samples and, as `<measure> ±`, its standard deviation."""
    tables = [pd.read_csv(path).assign(data=name) for name, path in files.items()]
    measures = pd.concat(tables, ignore_index=True)
    measures["row"] = measures["data"] + " " + measures["pattern"]
    groups = measures.groupby(["row", "measure"], sort=False)["value"]
    rows = measures["row"].unique()
    means, spreads = (frame.unstack().reindex(rows) for frame in over_seeds(groups))
    shown = with_spread(means, spreads.reindex(columns=SPREAD_OF).reindex(columns=COLUMNS), dict.fromkeys(COLUMNS, 4))
    shown.insert(0, "samples", groups.count().unstack()["silhouette"])
    return shown.convert_dtypes().reset_index()
