"""The stability map of S Eq. 9: where it may rest, over beta, tau and threshold, and where simulations end."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from clusterlens.figures import style
from clusterlens.metrics.order import CLUSTER_COSINE
from clusterlens.particles.cluster_states import equal_clusters, one_cluster
from clusterlens.particles.outcomes import outcomes
from clusterlens.particles.runs import Run
from clusterlens.particles.stability import diagonal_boundary, diagonal_eigenvalue

CELL = ["beta", "tau", "threshold", "time"]
PAPER = {"beta": (0.5, 1.0, 2.0), "tau": (1.0, 2.0, 4.0), "threshold": (0.5, 1.0)}  # S §6.4.1; the threshold is ours
PLACES = {"diagonal": (style.BLACK, "at the diagonal"), "axis": (style.CYAN, "near an axis"), "": ("white", "neither")}
CLUSTERS = {
    "one": (style.BLACK, "seeds in one cluster"),
    "few": (style.ORANGE, "two or three"),
    "moving": ("white", "still moving"),
}
STABLE = "#e3e5e9"
RANGE = (0.6, 8.4)  # of tau
TOP = 11.0  # of beta
SHOWN = (1.0, 0.5)  # thresholds for which states of several clusters are shown


def shares(ends: pd.DataFrame) -> pd.DataFrame:
    """Shares of seeds for each beta, tau, threshold and time, from `outcomes.outcomes`.

    `one`, `two`, `three`, `more` have settled in so many clusters, the others are `moving`; `diagonal`, `axis` and
    `edge` are one cluster at that place. `clusters` and `cosine` are means over seeds.
    """
    settled = ends["settled"] > CLUSTER_COSINE
    counts = {"one": ends["clusters"] == 1, "two": ends["clusters"] == 2, "three": ends["clusters"] == 3}
    flags = ends[CELL].assign(
        seeds=1,
        **{name: settled & chosen for name, chosen in counts.items()},
        more=settled & (ends["clusters"] > 3),
        moving=~settled,
        **{place: ends["place"] == place for place in ("diagonal", "axis", "edge")},
        clusters=ends["clusters"],
        cosine=ends["cosine"],
    )
    groups = flags.groupby(CELL)
    return groups.mean().assign(seeds=groups["seeds"].sum()).reset_index()


def pie(axis: Axes, x: float, y: float, parts: Sequence[float], colours: Sequence[str], *, framed: bool) -> None:
    """A small pie at (x, y), parts from the top clockwise; a frame marks a setting of the paper."""
    size, over = 44.0, {"zorder": 4, "clip_on": False}
    turns = np.concatenate([[0.0], np.cumsum(parts)])
    for start, end, colour in zip(turns[:-1], turns[1:], colours, strict=True):
        if end - start > 1e-9:
            angle = 2 * np.pi * np.linspace(start, end, 40)
            rim = np.stack([np.sin(angle), np.cos(angle)], axis=1)
            wedge = rim if end - start > 1 - 1e-9 else np.concatenate([[[0.0, 0.0]], rim])
            scale = np.abs(wedge).max() ** 2  # a marker is drawn with its largest coordinate at 1
            axis.scatter([x], [y], s=size * scale, marker=wedge, color=colour, linewidths=0, **over)
    edge = {"facecolors": "none", "edgecolors": style.BLACK, **over}
    axis.scatter([x], [y], s=size, marker="o", linewidths=0.6, **edge)
    if framed:
        axis.scatter([x], [y], s=2.4 * size, marker="s", linewidths=0.7, **edge)


def disc(colour: str, label: str) -> Line2D:
    edge = {"markeredgecolor": style.BLACK, "markeredgewidth": 0.6}
    return Line2D([], [], marker="o", linestyle="", color=colour, label=label, markersize=5, **edge)


def frame() -> Line2D:
    return Line2D(
        [], [], marker="s", linestyle="", color="none", markeredgecolor=style.BLACK, markersize=7, label="S's τ and β"
    )


def eigenvalue_panel(axis: Axes, late: pd.DataFrame, *, time: float) -> None:
    """Growth rate at the diagonal over tau and threshold, its zero line, and where seeds are at the end."""
    tau, threshold = np.linspace(*RANGE, 300), np.linspace(0.2, 1.4, 300)
    rate = diagonal_eigenvalue(tau=tau[None, :], threshold=threshold[:, None])
    axis.contourf(tau, threshold, rate, levels=[-2, 0, 2], colors=[STABLE, "white"])
    labels = {-0.8: (7.0, 0.32), -0.4: (1.5, 0.87), -0.2: (1.9, 0.85), 0.2: (5.5, 1.09), 0.5: (7.0, 0.87)}
    lines = axis.contour(tau, threshold, rate, levels=list(labels), colors=style.GREY, linewidths=0.5, linestyles="-")
    axis.clabel(lines, fmt="%+.1f", fontsize=6, manual=list(labels.values()))
    axis.plot(tau, diagonal_boundary(tau), color=style.BLACK, linewidth=1.6)
    axis.plot(tau, 2 / tau, color=style.BLUE, linewidth=1.0, linestyle=(0, (4, 2)))
    for (steepness, height), group in late[late["beta"].isin(PAPER["beta"])].groupby(["tau", "threshold"]):
        diagonal, near = group["diagonal"].mean(), group["axis"].mean()
        framed = steepness in PAPER["tau"] and height in PAPER["threshold"]
        colours = [colour for colour, _ in PLACES.values()]
        pie(axis, steepness, height, [diagonal, near, 1 - diagonal - near], colours, framed=framed)
    axis.set(xlabel="steepness τ", ylabel="threshold", xlim=RANGE, ylim=(0.2, 1.4))
    axis.set_title("growth rate at the diagonal")
    handles = [
        Patch(facecolor=STABLE, label="diagonal stable"),
        Line2D([], [], color=style.BLACK, linewidth=1.6, label="rate 0"),
        Line2D([], [], color=style.BLUE, linewidth=1.0, linestyle=(0, (4, 2)), label="τ · threshold = 2"),
        *(disc(colour, label) for colour, label in PLACES.values()),
        frame(),
    ]
    title = f"seeds at t = {time:g},\nβ = 0.5, 1, 2:"
    axis.legend(handles=handles, fontsize=6, loc="upper left", bbox_to_anchor=(1.0, 1.02), title=title)
    axis.get_legend().get_title().set_fontsize(6)


def place_panel(axis: Axes, ends: pd.DataFrame, *, threshold: float) -> None:
    """Cosine to the diagonal of every state of one cluster against tau, and of seeds that end in one cluster."""
    tau = np.linspace(*RANGE, 400)
    states = one_cluster(tau, np.full(len(tau), threshold))
    looks = {
        "diagonal": (style.BLACK, 0.975, "diagonal"),
        "edge": (style.ORANGE, 0.845, "between two axes"),
        "axis": (style.CYAN, 0.6, "near an axis"),
    }
    for kind, (colour, height, name) in looks.items():
        for stable, line in ((True, {"linewidth": 2.2}), (False, {"linewidth": 1.0, "linestyle": (0, (2, 1.5))})):
            part = states[(states["kind"] == kind) & (states["stable"] == stable)].groupby("tau")["cosine"].first()
            axis.plot(tau, part.reindex(tau), color=colour, **line)
        axis.text(8.3, height, name, ha="right", fontsize=6.5)
    one = ends[(ends["threshold"] == threshold) & (ends["clusters"] == 1)]
    axis.plot(one["tau"], one["cosine"], "o", color="none", markeredgecolor=style.BLACK, markeredgewidth=0.6)
    axis.set(xlabel="steepness τ", ylabel="cosine to the diagonal", xlim=RANGE, ylim=(0.54, 1.03))
    axis.set_title(f"states of one cluster, threshold {threshold:g}")
    lines = [
        Line2D([], [], color=style.GREY, linewidth=2.2, label="stable"),
        Line2D([], [], color=style.GREY, linewidth=1.0, linestyle=(0, (2, 1.5)), label="unstable"),
        disc("none", "a seed"),
    ]
    axis.legend(handles=lines, fontsize=6, loc="upper right", bbox_to_anchor=(1.0, 0.54))


def count_panel(axis: Axes, several: pd.DataFrame, late: pd.DataFrame, *, threshold: float) -> None:
    """Where states of two and three clusters are stable over tau and beta, one veil each, and how seeds end."""
    states = several[several["threshold"] == threshold].drop_duplicates(["tau", "clusters", "kinds", "lowest_beta"])
    states = states.sort_values("lowest_beta")
    states = states.assign(copy=states.groupby(["tau", "clusters", "kinds"]).cumcount())
    for _, group in states.groupby(["clusters", "kinds", "copy"]):
        group = group.sort_values("tau")
        axis.fill_between(group["tau"], group["lowest_beta"], TOP, color=style.BLACK, alpha=0.13, linewidth=0)
    for count, line in ((2, "-"), (3, (0, (4, 2)))):
        lowest = states[states["clusters"] == count].groupby("tau")["lowest_beta"].min()
        axis.plot(lowest.index, lowest, linestyle=line, color=style.BLUE, linewidth=1.3)
    for row in late[late["threshold"] == threshold].itertuples():
        parts = [row.one, row.two + row.three, 1 - row.one - row.two - row.three]
        framed = row.beta in PAPER["beta"] and row.tau in PAPER["tau"]
        pie(axis, row.tau, row.beta, parts, [colour for colour, _ in CLUSTERS.values()], framed=framed)
    axis.set(xlabel="steepness τ", xlim=RANGE, yscale="log", ylim=(0.4, TOP))
    axis.set_yticks([0.5, 1, 2, 3, 5, 9], ["0.5", "1", "2", "3", "5", "9"])
    axis.minorticks_off()
    axis.set_title(f"states of several clusters, threshold {threshold:g}")


def fig1_stability(runs: list[Run]) -> Figure:
    """The states that Eq. 9 allows, and where the simulations end."""
    ends = outcomes(runs)
    time, late = ends["time"].max(), shares(ends)
    taus = np.arange(1, RANGE[1] + 0.01, 0.25)
    single = one_cluster(np.tile(taus, len(SHOWN)), np.repeat(SHOWN, len(taus)))
    several = pd.concat([equal_clusters(single, count, betas=[TOP]) for count in (2, 3)], ignore_index=True)
    figure = style.plt.figure(figsize=(style.PAGE, 5.6))
    upper, lower = figure.subfigures(2, 1)
    left, right = upper.subplots(1, 2, width_ratios=[1.2, 1])
    eigenvalue_panel(left, late, time=time)
    place_panel(right, ends, threshold=1.0)
    first, second = lower.subplots(1, 2, sharey=True)
    for axis, threshold in zip((first, second), SHOWN, strict=True):
        count_panel(axis, several, late, threshold=threshold)
    first.set_ylabel("β")
    handles = [
        Line2D([], [], color=style.BLUE, linewidth=1.3, label="two clusters stable above"),
        Line2D([], [], color=style.BLUE, linewidth=1.3, linestyle=(0, (4, 2)), label="three"),
        *(disc(colour, label) for colour, label in CLUSTERS.values()),
        frame(),
    ]
    lower.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=6.5, columnspacing=1.2)
    style.letter([left, right, first, second])
    return figure
