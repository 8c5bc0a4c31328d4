"""A Fig. 3: global attention on the picture, its clusters and the mask they give."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, Case
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.cluster_points import cloud
from clusterlens.figures.masks import cloud_and_masks, pixel_table
from clusterlens.metrics.agreement import subject_mask


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    found, case = Clustering.load(*files["picture"]), Case("global")
    truth, measures = found.known["mask"], found.shown(case)
    points = cloud(found, case.name).drop(columns="panel")
    ours = subject_mask(found.labels[case.name], truth.shape)
    pixels = pixel_table(found.known["image"], {"truth": truth, "ours": ours})
    titles = {"truth": "ground truth", "ours": f"from clusters, dice {measures['dice']:.3f}"}
    figure = cloud_and_masks(points, f"silhouette {measures['silhouette']:.2f}", pixels, titles)
    return figure, points.join(pixels), found.numbers(DATA_NAMES["picture"], [case])
