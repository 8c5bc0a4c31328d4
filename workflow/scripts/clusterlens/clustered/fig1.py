"""A Fig. 1: the picture and its mask."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.data.formats import read_picture
from clusterlens.figures.masks import picture_and_masks, pixel_table
from clusterlens.metrics.numbers import numbers


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    image, mask = read_picture(Path(files["picture"][0]))
    pixels = pixel_table(image, {"mask": mask})
    counted = numbers(DATA_NAMES["picture"], {"pixels": mask.size, "inside": mask.mean()})
    return picture_and_masks(pixels, {"mask": "ground truth"}), pixels, counted
