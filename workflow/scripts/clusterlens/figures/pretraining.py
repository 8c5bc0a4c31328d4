"""Losses of masked language modelling by epoch (A Figure 11), and the paired differences between arms."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.seeds import seed_lines
from clusterlens.models.arms import ARMS, PAIRS, PAPERS_ARMS, difference

COLOURS = dict(zip(ARMS, (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.RED), strict=True))
WIDE = {"sdp": 3.0}  # so that what lies on top of it leaves it visible
PHASES = {"train_loss": ("training", ":"), "val_loss": ("validation", "-")}


def plot_pretraining(metrics: pd.DataFrame, *, window: int) -> Figure:
    """The paper's two arms by window; our further arms; paired differences. Thin lines are seeds."""
    windows = sorted(metrics["window"].unique())
    figure, axes = style.new_figure((len(windows) + 3) // 2, 2, height=1.1 * (len(windows) + 2), sharex=True)
    for axis, width in zip(axes, windows, strict=False):
        draw_losses(axis, metrics[metrics["window"] == width], list(PAPERS_ARMS))
        axis.set_title(f"window {width}")
    others, apart = axes[len(windows) : len(windows) + 2]
    draw_losses(others, metrics[metrics["window"] == window], [arm for arm in ARMS if arm not in PAPERS_ARMS])
    others.set_title(f"further arms, window {window}")
    draw_differences(apart, metrics, windows, window)
    apart.set_title("paired differences")
    for unused in axes[len(windows) + 2 :]:
        unused.remove()
    for phase, line in PHASES.values():
        axes[0].plot([], [], color=style.GREY, linestyle=line, label=phase)
    for axis in axes[: len(windows) + 2]:
        axis.set_xlabel("epoch")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.tick_params(labelbottom=True)
        axis.legend(loc="upper right")
    style.letter(axes[: len(windows) + 2])
    return figure


def draw_losses(axis: Axes, metrics: pd.DataFrame, arms: list[str]) -> None:
    for arm in arms:
        own = metrics[metrics["arm"] == arm]
        for column, (_, line) in PHASES.items():
            label = ARMS[arm].label if column == "val_loss" else "_training"
            draw_seeds(axis, own, column, label, color=COLOURS[arm], linestyle=line, linewidth=WIDE.get(arm, 1.2))
    axis.set_ylabel("loss (nats)")


def draw_differences(axis: Axes, metrics: pd.DataFrame, windows: list[int], window: int) -> None:
    by_run = metrics.set_index(["arm", "window", "seed", "epoch"])["val_loss"].sort_index()
    shown = [(pair, width) for width in windows for pair in PAIRS[:1]] + [(pair, window) for pair in PAIRS[1:]]
    for place, ((arm, base), width) in enumerate(shown):
        apart = (by_run[arm, width] - by_run[base, width]).reset_index()
        label = f"{difference(arm, base)}, window {width}" if arm in PAPERS_ARMS else difference(arm, base)
        colour = COLOURS[arm] if width == window else style.GREY
        draw_seeds(axis, apart, "val_loss", label, color=colour, linewidth=3.0 if place == 0 else 1.2)
    axis.axhline(0.0, color=style.BLACK, linewidth=0.5)
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.6 * (high - low))  # room for the legend
    axis.set_ylabel("difference in validation loss")


def draw_seeds(axis: Axes, metrics: pd.DataFrame, column: str, label: str, *, color: str, **look) -> None:
    """Each seed thin, their mean, and a 95 % interval where there are enough of them."""
    look |= {"marker": "."} if metrics["epoch"].nunique() == 1 else {}
    seed_lines(axis, metrics, "epoch", column, colour=color, label=label, **look)
