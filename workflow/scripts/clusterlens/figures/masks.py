"""The picture and masks of its subject, side by side."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.clouds import draw_cloud


def pixel_table(image: np.ndarray, masks: dict[str, np.ndarray]) -> pd.DataFrame:
    """One row per pixel: row, column, red, green, blue and a column of 0 and 1 for each mask."""
    rows, columns = np.indices(image.shape[:2])
    table = pd.DataFrame({"row": rows.ravel(), "column": columns.ravel()})
    for channel, name in enumerate(("red", "green", "blue")):
        table[name] = image[..., channel].ravel()
    return table.assign(**{name: mask.astype(int).ravel() for name, mask in masks.items()})


def grid(pixels: pd.DataFrame, columns: str | list[str]) -> np.ndarray:
    shape = (pixels["row"].max() + 1, pixels["column"].max() + 1)
    values = pixels[columns].to_numpy()
    return values.reshape(*shape, *values.shape[1:])


def draw_picture(axis: Axes, pixels: pd.DataFrame, title: str) -> None:
    frame(axis, title)
    axis.imshow(grid(pixels, ["red", "green", "blue"]).astype(np.uint8), interpolation="nearest")


def draw_mask(axis: Axes, pixels: pd.DataFrame, mask: str, title: str) -> None:
    frame(axis, title)
    axis.imshow(grid(pixels, mask), cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def frame(axis: Axes, title: str) -> None:
    axis.set(title=title, xticks=[], yticks=[])
    for spine in axis.spines.values():
        spine.set_visible(True)


def cloud_and_masks(points: pd.DataFrame, title: str, pixels: pd.DataFrame, masks: dict[str, str]) -> Figure:
    """A cloud of pixels with its axes named, the picture, then each mask under its title."""
    figure, axes = style.new_figure(1, 2 + len(masks), height=2.1, width_ratios=[1.35] + [1] * (1 + len(masks)))
    slot = axes[0].get_subplotspec()
    axes[0].remove()
    draw_cloud(figure.add_subplot(slot, projection="3d"), points, title, ("red", "green", "blue"))
    draw_picture(axes[1], pixels, "picture")
    for axis, (mask, words) in zip(axes[2:], masks.items(), strict=True):
        draw_mask(axis, pixels, mask, words)
    return figure


def picture_and_masks(pixels: pd.DataFrame, masks: dict[str, str]) -> Figure:
    """The picture, then each mask under its title."""
    count = 1 + len(masks)
    figure, axes = style.new_figure(1, count, width=1.72 * count, height=2.1)
    height, width = grid(pixels, "row").shape
    draw_picture(axes[0], pixels, f"{height} × {width} pixels")
    for axis, (mask, title) in zip(axes[1:], masks.items(), strict=True):
        draw_mask(axis, pixels, mask, title)
    return figure
