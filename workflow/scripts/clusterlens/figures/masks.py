"""The picture and masks of its subject, side by side."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from clusterlens.figures import style
from clusterlens.figures.clouds import draw_cloud

TRUTH = "truth"  # the column of the ground truth
MISSED, EXTRA = style.ORANGE, style.BLUE


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


def draw_mask(axis: Axes, pixels: pd.DataFrame, mask: str, title: str, *, truth: str | None = None) -> None:
    """White on black; against a ground truth, wrong pixels in colour."""
    frame(axis, title)
    found = grid(pixels, mask).astype(bool)
    colours = np.repeat(found[..., None], 3, axis=-1).astype(float)
    if truth is not None:
        real = grid(pixels, truth).astype(bool)
        colours[real & ~found], colours[~real & found] = to_rgb(MISSED), to_rgb(EXTRA)
    axis.imshow(colours, interpolation="nearest")


def draw_masks(figure: Figure, axes: list[Axes], pixels: pd.DataFrame, masks: dict[str, str]) -> None:
    """Each mask under its title; where one of them is the ground truth, the others show what they get wrong."""
    truth = TRUTH if TRUTH in masks else None
    for axis, (mask, title) in zip(axes, masks.items(), strict=True):
        draw_mask(axis, pixels, mask, title, truth=truth)
    if truth:
        names = {MISSED: "subject taken for background", EXTRA: "background taken for subject"}
        handles = [Patch(color=colour, label=name) for colour, name in names.items()]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, handlelength=1, fontsize=6.5)


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
    draw_masks(figure, axes[2:], pixels, masks)
    return figure


def picture_and_masks(pixels: pd.DataFrame, masks: dict[str, str]) -> Figure:
    """The picture, then each mask under its title."""
    count = 1 + len(masks)
    figure, axes = style.new_figure(1, count, width=1.72 * count, height=2.1)
    height, width = grid(pixels, "row").shape
    draw_picture(axes[0], pixels, f"{height} × {width} pixels")
    draw_masks(figure, axes[1:], pixels, masks)
    return figure
