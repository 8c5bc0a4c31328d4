"""What seeds show, drawn by seaborn: each of them thin, and in front their mean with its 95 % interval."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from clusterlens.figures import style
from clusterlens.metrics.statistics import mean_interval, share_interval

ENOUGH = 3  # seeds from which on an interval is drawn
TIMES = 81  # of a curve that are drawn at most
THIN = 64  # seeds that are drawn as lines at most; mean and interval are those of all
ANY = (-np.inf, np.inf)
MARK: dict[str, Any] = {"markersize": 4.5, "capsize": 0.18, "err_kws": {"linewidth": 1.1}, "linestyle": "none"}


def interval(values: Sequence[float], *, bounds: tuple[float, float] = ANY) -> tuple[float, float]:
    """The 95 % interval of the mean that the numbers give, kept within what the quantity can be."""
    found = mean_interval(np.asarray(values))
    if found.seeds < ENOUGH:
        return np.nan, np.nan
    low, high = np.clip((found.low, found.high), *bounds)
    return float(min(low, found.value)), float(max(high, found.value))


def wilson(happened: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a share, from a 0 or 1 for each seed."""
    return share_interval(int(np.sum(happened)), len(happened))


def over_time(times: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Values (T, S) as rows time, seed, value, at times that are spread evenly where there are many."""
    kept = np.unique(np.linspace(0, len(times) - 1, min(TIMES, len(times))).round().astype(int))
    systems = values.shape[1]
    return pd.DataFrame(
        {
            "time": np.repeat(times[kept], systems),
            "seed": np.tile(np.arange(systems), len(kept)),
            "value": values[kept].ravel(),
        }
    )


def seed_lines(axis: Axes, table: pd.DataFrame, x: str, y: str, *, colour: str, bars: bool = False, **means) -> None:
    """A line for every `seed` of the table, their mean and its interval; on a log axis the geometric mean.

    `bars` draws the interval at every place instead of a band, where bands of several lines would overlap. The other
    options are those of `seed_means`.
    """
    table = table.dropna(subset=y)
    if table.empty:
        return
    thin = {"linewidth": 0.35, "alpha": 0.45, "linestyle": means.get("linestyle", "-")}
    look: dict[str, Any] = {"x": x, "y": y, "ax": axis, "color": colour, "legend": False}
    look["data"] = table[table["seed"].isin(table["seed"].unique()[:THIN])]
    sns.lineplot(**look, units="seed", estimator=None, **thin)
    seed_means(axis, table, x, y, colour=colour, bars=bars, **means)


def seed_means(
    axis: Axes,
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    colour: str,
    label: str = "",
    bounds: tuple[float, float] = ANY,
    on_log: bool = False,
    bars: bool = True,
    **line,
) -> None:
    """The means alone, with their intervals."""
    if on_log:
        axis.set_yscale("log")  # seaborn then averages logarithms
    within = interval if on_log else partial(interval, bounds=bounds)
    enough = table.groupby(x).size().max() >= ENOUGH
    shown: dict[str, Any] = {
        "estimator": "mean",
        "errorbar": within if enough else None,
        "err_style": "bars" if bars else "band",
        "legend": False,
    }
    if enough:
        shown["err_kws"] = {"elinewidth": 0.9, "capsize": 1.5} if bars else {"alpha": 0.2, "linewidth": 0}
    sns.lineplot(table, x=x, y=y, ax=axis, color=colour, label=label or None, **shown, **line)
    axis.set(xlabel="", ylabel="")


def share_line(axis: Axes, times: np.ndarray, happened: np.ndarray, *, colour: str) -> None:
    """The share of seeds for which something (T, S) holds over time, with its interval."""
    band = {"errorbar": wilson, "err_kws": {"alpha": 0.15, "linewidth": 0}}
    table = over_time(times, happened.astype(float))
    sns.lineplot(table, x="time", y="value", ax=axis, color=colour, legend=False, **band)
    axis.set(xlabel="t", ylabel="")


def outcome_lines(axis: Axes, times: np.ndarray, values: np.ndarray, happened: np.ndarray, *, colour: str) -> None:
    """A line for every system, in colour where it clusters and grey where it does not: there is no middle to draw."""
    for chosen, shade in ((~happened, style.GREY), (happened, colour)):
        if chosen.any():
            table = over_time(times, values[:, chosen])
            look = {"ax": axis, "color": shade, "linewidth": 0.7, "alpha": 0.7}
            sns.lineplot(table, x="time", y="value", units="seed", estimator=None, legend=False, **look)
    axis.set(xlabel="t", ylabel="")


def swarms(axis: Axes, groups: list[np.ndarray], names: Sequence[str], *, colour: str) -> None:
    """Every seed as a point, and in front median and quartiles, group by group; no line between groups."""
    draw_groups(axis, groups, names, colour=colour, estimator="median", errorbar=("pi", 50))


def points(axis: Axes, groups: list[np.ndarray], names: Sequence[str], *, colour: str) -> None:
    """Every seed as a point, and in front mean and 95 % interval, group by group."""
    draw_groups(axis, groups, names, colour=colour, estimator="mean", errorbar=interval)


def shares(axis: Axes, groups: list[np.ndarray], names: Sequence[str], *, colour: str) -> None:
    """The share of seeds for which something holds, with its interval, group by group."""
    sns.pointplot(**grouped(axis, groups, names), color=colour, **MARK, estimator="mean", errorbar=wilson)
    axis.set(xlabel="", ylabel="")


def draw_groups(axis: Axes, groups: list[np.ndarray], names: Sequence[str], *, colour: str, **summary) -> None:
    look = grouped(axis, groups, names)
    sns.swarmplot(**look, color=style.GREY, size=2.2, alpha=0.8)
    sns.pointplot(**look, color=colour, **MARK, **summary)
    axis.set(xlabel="", ylabel="")


def grouped(axis: Axes, groups: list[np.ndarray], names: Sequence[str]) -> dict[str, Any]:
    rows = [(name, float(value)) for name, values in zip(names, groups, strict=True) for value in values]
    table = pd.DataFrame(rows, columns=["group", "value"]).dropna()
    return {"data": table, "x": "group", "y": "value", "order": list(names), "ax": axis, "legend": False}
