"""A Figs. 4 and 5: global attention on a table, with attention lines and leaders."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention import strength
from clusterlens.attention.cases import DATA_NAMES, Case
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.clouds import attention_cloud
from clusterlens.figures.cluster_points import cloud, score_line
from clusterlens.metrics.numbers import number

MEASURES = ("silhouette", "accuracy", "coverage", "accuracy all clusters", "clusters")


def show(files: dict[str, list[str]], *, links: int, link_threshold: float) -> tuple[Figure, pd.DataFrame, list[dict]]:
    [(dataset, paths)] = files.items()
    found, case, data = Clustering.load(*paths), Case("global"), DATA_NAMES[dataset]
    final, labels = found.final[case.name].astype(float), found.labels[case.name]
    strongest = strength.links(final, threshold=link_threshold)
    lead = strength.leaders(final, labels)
    share = strength.share_of_leaders(strongest.head(len(final)), lead, labels)
    points = cloud(found, case.name, data).assign(star=lead.astype(int))
    title = f"{data}: {score_line(found.shown(case))}"
    figure = attention_cloud(points, strongest.head(links), title, tuple(found.known["features"]))
    leading = number("leaders", "share of strongest links", share)
    return figure, points, [leading, *found.numbers(data, [case], MEASURES)]
