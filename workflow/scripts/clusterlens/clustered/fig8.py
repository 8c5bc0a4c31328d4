"""A Fig. 8: Longformer's pattern on the two tables under four scaling modes."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, MODES
from clusterlens.attention.clustering import Clustering
from clusterlens.clustered.fig9 import gap_numbers
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import cloud_with_globals
from clusterlens.metrics.numbers import number
from clusterlens.metrics.spectrum import gaps

DIFFERENCE = "largest difference from sdp"


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        differences = []
        for case in found.cases("longformer"):
            panel, last = f"{data} {case.mode}", gaps(found.spectrum(case)).tail(1)
            parts.append(cloud_with_globals(found, case.name, panel))
            titles[panel] = f"{data}: {MODES[case.mode]}\nλ1/λ3 = {last[3].item():,.0f}"
            numbers += gap_numbers(panel, last)
            differences.append(number(panel, DIFFERENCE, found.shown(case).get(DIFFERENCE, 0.0)))
        numbers += differences
    points = pd.concat(parts)
    return clouds(points, titles, columns=len(MODES)), points, numbers
