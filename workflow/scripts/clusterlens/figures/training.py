"""Accuracy and loss by epoch (S Figures 3 to 6), and the numbers that describe such a curve."""

from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.models.variants import VARIANTS

# Item: (runs of its two panels, what is drawn).
CURVES = {
    "fig3": (("vit", "spikformer"), "accuracy"),
    "fig4": (("vit", "spikformer"), "loss"),
    "fig5": (("vit_no_mlp", "spikformer_no_mlp"), "loss"),
    "fig6": (("vit_no_skip", "spikformer_no_skip"), "loss"),
}
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


def curve_numbers(metrics: pd.DataFrame, item: str) -> pd.DataFrame:
    """First, final and best values, volatility and speed of the two runs, as mean and spread over seeds."""
    runs, _ = CURVES[item]
    rows = []
    for run in runs:
        curves = [seed.sort_values("epoch") for _, seed in metrics[metrics["run"] == run].groupby("seed")]
        described = pd.DataFrame([describe(curve) for curve in curves])
        rows += numbers(VARIANTS[run], described)
    return pd.DataFrame(rows)


def describe(curve: pd.DataFrame) -> dict[str, float]:
    top1, loss = curve["top1"].to_numpy(), curve["val_loss"].to_numpy()
    drops = [before - after for before, after in pairwise(top1) if after < before]
    return {
        "first accuracy": top1[0],
        "final accuracy": top1[-1],
        "best accuracy": top1.max(),
        "first loss": loss[0],
        "final loss": loss[-1],
        "volatility": sum(drops) / len(drops) if drops else 0.0,
        "epochs to 90 %": float(curve["epoch"].to_numpy()[(top1 >= 0.9 * top1.max()).argmax()]),
    }


def numbers(row: str, described: pd.DataFrame) -> list[dict]:
    """One entry per column of `described`, whose rows are seeds."""
    seeds = len(described)
    return [
        {
            "row": row,
            "column": column,
            "value": round(described[column].mean(), 6),
            "spread": round(described[column].std(), 6) if seeds > 1 else None,
            "seeds": seeds,
        }
        for column in described
    ]
