"""A Fig. 16: correlation matrices of the features and labels of the two tables."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.attention.prepared import Table
from clusterlens.figures.correlations import correlation_maps
from clusterlens.metrics.numbers import number


def correlation_table(rows: pd.DataFrame, panel: str) -> pd.DataFrame:
    """Pearson correlations of all pairs of columns: panel, row, column, correlation."""
    pairs = rows.corr().rename_axis("row").reset_index().melt("row", var_name="column", value_name="correlation")
    pairs.insert(0, "panel", panel)
    return pairs


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, numbers = [], []
    for dataset, paths in files.items():
        table, data = Table.load(*paths), DATA_NAMES[dataset]
        parts.append(correlation_table(table.rows, data))
        with_label = table.rows.corr().loc[table.features, table.label]
        numbers += [number(f"{data} {name}", "correlation with label", value) for name, value in with_label.items()]
    points = pd.concat(parts, ignore_index=True)
    return correlation_maps(points), points, numbers
