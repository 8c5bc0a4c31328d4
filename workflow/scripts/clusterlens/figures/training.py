"""Accuracy and loss by epoch (S Figures 3 to 6)."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.models.variants import VARIANTS
from clusterlens.training.numbers import CURVES

LINES = {
    "accuracy": (("top1", "top-1", style.BLUE), ("top5", "top-5", style.GREEN)),
    "loss": (("train_loss", "training", style.ORANGE), ("val_loss", "validation", style.BLUE)),
}
LABELS = {"accuracy": "accuracy on test images (%)", "loss": "loss (nats)"}


def plot_curves(metrics: pd.DataFrame, item: str) -> Figure:
    """Panels (a) ViT and (b) Spikformer: mean over seeds as a line, each seed thin behind it."""
    runs, kind = CURVES[item]
    figure, axes = style.new_figure(1, 2, height=2.4, sharex=True, sharey=True)
    for axis, run in zip(axes, runs, strict=True):
        draw_run(axis, metrics[metrics["run"] == run], kind)
        axis.set_title(VARIANTS[run])
    axes[0].set_ylabel(LABELS[kind])
    if kind == "accuracy":
        axes[0].set_ylim(0, 103)
    axes[1].legend(loc="best")
    style.letter(axes)
    return figure


def draw_run(axis: Axes, metrics: pd.DataFrame, kind: str) -> None:
    for column, label, colour in LINES[kind]:
        for _, seed in metrics.groupby("seed"):
            axis.plot(seed["epoch"], seed[column], color=colour, linewidth=0.5, alpha=0.4)
        mean = metrics.groupby("epoch")[column].mean()
        axis.plot(mean.index, mean, color=colour, label=label, marker="." if len(mean) < 30 else None)
    axis.set_xlabel("epoch")
    axis.xaxis.get_major_locator().set_params(integer=True)


def curve_points(metrics: pd.DataFrame, item: str) -> pd.DataFrame:
    runs, kind = CURVES[item]
    columns = [column for column, _, _ in LINES[kind]]
    return metrics[metrics["run"].isin(runs)][["run", "seed", "epoch", *columns]]
