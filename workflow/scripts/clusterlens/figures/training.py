"""Accuracy and loss by epoch (S Figures 3 to 6)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines
from clusterlens.models.variants import VARIANTS
from clusterlens.training.numbers import CURVES

LINES = {
    "accuracy": (("top1", "top-1", style.BLUE), ("top5", "top-5", style.GREEN)),
    "loss": (("train_loss", "training", style.ORANGE), ("val_loss", "validation", style.BLUE)),
}
BOUNDS = {"accuracy": (0, 100), "loss": (0, np.inf)}
CONSTANT = np.log(10)  # the loss of a constant answer for ten classes
LABELS = {"accuracy": "accuracy on test images (%)", "loss": "loss (nats)"}


def plot_curves(metrics: pd.DataFrame, item: str) -> Figure:
    """Panels (a) ViT and (b) Spikformer: each seed thin, their mean and, from three seeds on, its 95 % interval."""
    runs, kind = CURVES[item]
    figure, axes = style.new_figure(1, 2, height=2.6, sharex=True, sharey=True)
    for axis, run in zip(axes, runs, strict=True):
        draw_run(axis, metrics[metrics["run"] == run], kind)
        axis.set_title(f"{VARIANTS[run]}, n = {metrics.loc[metrics['run'] == run, 'seed'].nunique()}")
    if kind == "accuracy":
        axes[0].set_ylim(0, 103)
    else:
        keep_scale(dict(zip(runs, axes, strict=True)), metrics[metrics["run"].isin(runs)])
        for axis in axes:
            axis.axhline(CONSTANT, color=style.BLACK, linewidth=0.7, linestyle=":", label="ln 10 (constant answer)")
    axes[0].set_ylabel(LABELS[kind])
    axes[1].set_ylabel("")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    style.letter(axes)
    return figure


def draw_run(axis: Axes, metrics: pd.DataFrame, kind: str) -> None:
    epochs = metrics["epoch"].nunique()
    for column, label, colour in LINES[kind]:
        look: dict[str, Any] = {"marker": "." if epochs < 30 else None, "bounds": BOUNDS[kind]}
        seed_lines(axis, metrics, "epoch", column, colour=colour, label=label, **look)
    axis.set_xlabel("epoch")
    axis.xaxis.get_major_locator().set_params(integer=True)


def keep_scale(axes: dict[str, Axes], metrics: pd.DataFrame) -> None:
    """A scale that nearly all losses set; the title of a panel says how far those above it reach."""
    found = metrics.set_index("run")[[column for column, _, _ in LINES["loss"]]]
    losses = found.to_numpy()
    losses = losses[np.isfinite(losses)]
    low, usual = min(losses.min(), CONSTANT), max(np.quantile(losses, 0.97), CONSTANT)
    room = 0.12 * (usual - low)
    if losses.max() <= usual + 4 * room:
        return
    top = usual + 2 * room
    for run, axis in axes.items():
        axis.set_ylim(low - room, top)
        highest = np.nanmax(found.loc[[run]].to_numpy())
        if highest > top:
            axis.set_title(f"{axis.get_title()}\nhighest loss {highest:.1f}")


def curve_points(metrics: pd.DataFrame, item: str) -> pd.DataFrame:
    runs, kind = CURVES[item]
    columns = [column for column, _, _ in LINES[kind]]
    return metrics[metrics["run"].isin(runs)][["run", "seed", "epoch", *columns]]
