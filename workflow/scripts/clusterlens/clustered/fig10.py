"""A Fig. 10: Longformer's pattern with dot-product scaling on the three data sets."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import cloud_with_globals, score_line


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        case = found.cases("longformer")[0]
        measures = found.shown(case)
        parts.append(cloud_with_globals(found, case.name, data))
        scores = score_line(measures).replace(", ", "\n", 1)
        titles[data] = f"{data}, w = {measures['window']:.0f}: {scores}"
        numbers += found.numbers(data, [case])
    points = pd.concat(parts)
    return clouds(points, titles, columns=len(titles)), points, numbers
