"""A Fig. 7: masks of the picture under local windows, beside the ground truth."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.masks import picture_and_masks, pixel_table
from clusterlens.metrics.agreement import subject_mask


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    found = Clustering.load(*files["picture"])
    truth, chosen = found.known["mask"], found.cases("local")
    masks, titles = {"truth": truth}, {"truth": "ground truth"}
    for case in chosen:
        measures = found.shown(case)
        masks[case.name] = subject_mask(found.labels[case.name], truth.shape)
        titles[case.name] = f"w = {measures['window']:.0f}, dice {measures['dice']:.3f}"
    pixels = pixel_table(found.known["image"], masks)
    return picture_and_masks(pixels, titles), pixels, found.numbers(DATA_NAMES["picture"], chosen)
