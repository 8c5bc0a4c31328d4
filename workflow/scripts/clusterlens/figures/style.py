"""One look for every figure: sizes of the printed page, fonts, colours, and how a figure is saved."""

import os
import textwrap

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from clusterlens.files import replacing

COLUMN = 3.35  # inches: one column of a two-column page
PAGE = 6.9  # inches: both columns

# Hues after Okabe and Ito, each of its own lightness: told apart in deuteranopia and in grey (see test_style.py).
BLUE, ORANGE, GREEN, RED, PURPLE = "#075faf", "#e18a02", "#009970", "#e21715", "#571574"
CYAN, BROWN, PINK, GREY, BLACK = "#4ed2fe", "#6c4118", "#f791c0", "#8f949c", "#1b1d21"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, CYAN, BROWN, PINK, GREY)

CLASSES = {"albert": "ALBERT", "t5": "T5", "bert": "BERT", "longformer": "Longformer", "roberta": "RoBERTa"}

RC = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "font.size": 8,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "image.cmap": "viridis",
    "pdf.fonttype": 42,
}
plt.rcParams.update(RC)


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = PAGE, height: float = 2.2, **options
) -> tuple[Figure, list]:
    """A figure with rows x columns axes, as a flat list; `height` is in inches for the whole figure."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, **options)
    return figure, list(axes.flat)


def letter(axes: list[Axes]) -> None:
    """Mark panels (a), (b), ... in front of their titles."""
    for index, axis in enumerate(axes):
        axis.set_title(f"({chr(97 + index)}) {axis.get_title()}".rstrip())


def note(figure: Figure, text: str) -> None:
    """A text below the figure, in grey: the stand-in it shows, or what a reader must know."""
    if text:
        lines = textwrap.fill(text, int(19 * figure.get_figwidth()))  # some 19 letters of this size to an inch
        figure.supxlabel(lines, fontsize=6.5, color="#5a5f67")


class PlainNumbers(LogFormatterSciNotation):
    """0.6 instead of 6 × 10⁻¹, where that would be written."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def write_plain_numbers(figure: Figure) -> None:
    """On log axes that span less than two decades."""
    for axis in figure.axes:
        low, high = axis.get_ylim()
        if axis.get_yscale() == "log" and high < 100 * low:
            axis.yaxis.set_major_formatter(PlainNumbers())
            axis.yaxis.set_minor_formatter(PlainNumbers())


def save(figure: Figure, png: str | os.PathLike, pdf: str | os.PathLike) -> None:
    """Write PNG and PDF without dates, so that equal figures are equal files, and free the figure."""
    write_plain_numbers(figure)
    if figure.subfigs:
        figure.draw_without_rendering()  # their first layout knows no tick labels, and cuts what is beside them
    with replacing(png) as file:
        figure.savefig(file, metadata={"Software": None})
    figure.set_layout_engine("none")  # the layout is found: both files show the same
    with replacing(pdf) as file:
        figure.savefig(file, metadata={"CreationDate": None})
    plt.close(figure)
