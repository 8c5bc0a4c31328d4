"""A Fig. 6: clusters of the two tables under local windows, beside global attention."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, Case
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import aligned, cloud


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        chosen = [*found.cases("local"), Case("global")]
        for case in chosen:
            measures, panel = found.shown(case), f"{data} {case.name}"
            cluster = aligned(found.labels[case.name], found.labels[Case("global").name])
            parts.append(cloud(found, case.name, panel).assign(cluster=cluster))
            pattern = f"w = {measures['window']:.0f}" if case.window else "global attention"
            scores = f"silhouette {measures['silhouette']:.2f}, {measures['fragments']:.0f} fragments"
            titles[panel] = f"{data}, {pattern}\n{scores}"
        numbers += found.numbers(data, chosen)
    points = pd.concat(parts)
    return clouds(points, titles, columns=len(titles) // len(files)), points, numbers
