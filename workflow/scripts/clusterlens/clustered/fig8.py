"""A Fig. 8: Longformer's pattern on the two tables under four scaling modes."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, MODES
from clusterlens.attention.clustering import Clustering
from clusterlens.clustered.fig9 import mode_numbers
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import aligned, cloud_with_globals
from clusterlens.metrics.numbers import number, share
from clusterlens.metrics.spectrum import gaps, shape

DIFFERENCE = "largest difference from sdp"


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        numbers += mode_numbers(data, found, last=True)
        reference = found.labels[found.cases("longformer")[0].name]
        for case in found.cases("longformer"):
            panel, ratios = f"{data} {case.mode}", gaps(found.spectrum(case))
            last = ratios.loc[ratios.index.max()[0]]
            first, second = 10 ** last.iloc[0, :2]
            cluster = aligned(found.labels[case.name], reference)
            parts.append(cloud_with_globals(found, case.name, panel).assign(cluster=cluster))
            titles[panel] = f"{data}: {MODES[case.mode]}\nλ1/λ2 = {first:,.0f}, λ2/λ3 = {second:,.0f}"
            numbers += [share(panel, name, outcome) for name, outcome in shape(last).items()]
            measures = {DIFFERENCE: 0.0} | found.shown(case)
            numbers += [number(panel, measure, measures[measure]) for measure in (DIFFERENCE, "fragments")]
    points = pd.concat(parts)
    figure = clouds(points, titles, columns=len(MODES))
    figure.suptitle("each panel has its own scale; clusters keep their colour along a row", fontsize=7)
    return figure, points, numbers
