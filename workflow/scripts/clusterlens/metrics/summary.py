"""Measures over samples, gathered into one table with a row per data set and pattern."""

import pandas as pd

SPREAD_OF = ("silhouette", "accuracy", "coverage", "accuracy all clusters", "fragments", "share away", "rand index")
COLUMNS = ("tokens", "window", "clusters", "silhouette", "dice", *SPREAD_OF[1:], "effective rank")


def metrics_table(files: dict[str, str]) -> pd.DataFrame:
    """`Data A global`, ...: the mean of every measure over samples and, as `<measure> ±`, its standard deviation."""
    tables = [pd.read_csv(path).assign(data=name) for name, path in files.items()]
    measures = pd.concat(tables, ignore_index=True)
    measures["row"] = measures["data"] + " " + measures["case"]
    groups = measures.groupby(["row", "measure"], sort=False)["value"]
    means, spreads, counts = (frame.unstack("measure") for frame in (groups.mean(), groups.std(), groups.count()))
    rows = measures["row"].unique()
    table = pd.DataFrame({"row": rows}).set_index("row")
    table["samples"] = counts["silhouette"].reindex(rows)
    for column in COLUMNS:
        if column not in means:
            continue
        table[column] = means[column].reindex(rows).round(4)
        if column in SPREAD_OF:
            table[f"{column} ±"] = spreads[column].reindex(rows).round(4)
    return table.convert_dtypes().reset_index()
