"""Layers of probed models: their spectra (A Figs. 12-15), sinks, and depth with and without training."""

from collections.abc import Mapping
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from clusterlens.figures import style
from clusterlens.figures.eigenvalues import draw_eigenvalues
from clusterlens.figures.seeds import seed_lines
from clusterlens.particles.runs import Run
from clusterlens.probing.numbers import (
    DEPTH,
    PAPER,
    PARAGRAPHS,
    SPECTRA,
    chosen,
    depth_measures,
    eigenvalue_curves,
    measure_curves,
    replicates,
    sink_measures,
    uniform_causal,
)
from clusterlens.probing.states import DISABLED, FRESH, TRAINED

POSITIVE = (1e-6, float("inf"))  # an interval on a log axis
COLOURS = {"albert": style.BLUE, "t5": style.GREEN, "longformer": style.ORANGE, "roberta": style.RED}


def spectra_by_layer(
    item: str, measures: Mapping[str, pd.DataFrame], spectra: Mapping[str, pd.DataFrame]
) -> tuple[Figure, pd.DataFrame]:
    """A column per state: eigenvalues on the paper's text and over paragraphs, and the share of the first."""
    panels = SPECTRA[item]
    figure, axes = style.new_figure(
        3, len(panels), width=max(style.COLUMN, 1.72 * len(panels)), height=5.2, sharex="col", sharey="row"
    )
    texts = len(measures[panels[0][0]].query("source == @PARAGRAPHS")["text"].unique())
    places = {PAPER: (0, "the paper's text"), PARAGRAPHS: (1, f"{texts} paragraphs")}
    points = []
    for column, (model, state) in enumerate(panels):
        upper, _, lower = axes[column :: len(panels)]
        for source, (row, _) in places.items():
            axis = axes[row * len(panels) + column]
            found = chosen(spectra[model], state, source)
            draw_eigenvalues(axis, found.assign(seed=found["text"]), "layer")
            points.append(eigenvalue_curves(found).assign(model=model, state=state, source=source))
        for source, colour in ((PAPER, style.GREY), (PARAGRAPHS, style.BLUE)):
            draw_shares(lower, chosen(measures[model], state, source), colour)
        lower.set_xlabel("layer")
        lower.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        upper.set_title(state_title(model, state), fontsize=7)
    for row, name in places.values():
        axes[row * len(panels)].set_ylabel(f"eigenvalue\n({name})")
    axes[2 * len(panels)].set_ylabel("share of λ1\n(grey: the paper's text)")
    axes[2 * len(panels)].set_ylim(0, 1.02)
    axes[0].plot([], [], ":", color=style.GREY, label="uncentred")
    columns = 6 if len(panels) > 1 else 3
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=columns,
        handlelength=1.4,
        columnspacing=1,
    )
    return figure, pd.concat(points, ignore_index=True)


def state_title(model: str, state: str) -> str:
    return style.CLASSES[model] if state == TRAINED else f"{style.CLASSES[model]}\n{DISABLED[state].title}"


def draw_shares(axis: Axes, measures: pd.DataFrame, colour: str) -> None:
    """λ1/Σλ by layer, solid for the centred covariance, dotted for the other."""
    for kind, line in (("centred", "-"), ("uncentred", ":")):
        values = measures.groupby(["layer", "text"])[f"leading_share_{kind}"].mean()
        draw_curve(axis, values, colour, linestyle=line, bounds=(0, 1))


def draw_curve(axis: Axes, values: pd.Series, colour: str, *, relative: bool = False, **look) -> None:
    """A measure indexed by layer and by text or seed: each of these thin, and their mean with its interval."""
    table = values.rename("value").rename_axis(index=["layer", "seed"]).reset_index()
    if relative:
        table["layer"] = table["layer"] / table["layer"].max()
    seed_lines(axis, table, "layer", "value", colour=colour, **look)


def sinks(measures: Mapping[str, pd.DataFrame], runs: Mapping[str, Run]) -> tuple[Figure, pd.DataFrame]:
    """Attention to the first token over uniform attention, by relative depth, for models and for the simulations."""
    figure, axes = style.new_figure(1, 3, height=3.0)
    axes[1].sharey(axes[0])
    points = []
    for model, table in measures.items():
        for axis, state, column, line in (
            (axes[0], TRAINED, "over_uniform", "-"),
            (axes[0], TRAINED, "strongest_over_uniform", ":"),
            (axes[1], FRESH, "over_uniform", "-"),
        ):
            values = replicates(sink_measures(table), state, column)
            label = "" if line == ":" else style.CLASSES[model]
            draw_curve(axis, values, COLOURS[model], relative=True, linestyle=line, label=label, bounds=POSITIVE)
            points.append(measure_curves(values).assign(series=model, state=state, measure=column))
    for (name, run), shade in zip(runs.items(), cycle((style.BLACK, style.GREY, style.PURPLE)), strict=False):
        ratio = pd.DataFrame(run.order["attention_to_first"] / uniform_causal(run.path.shape[1]), index=run.times)
        values = ratio.rename_axis(index="layer", columns="text").stack()
        look = {"linestyle": "--", "label": name, "bounds": POSITIVE}
        draw_curve(axes[2], values, shade, relative=True, **look)
        about = {"series": f"simulation {name}", "state": "simulation", "measure": "over_uniform"}
        points.append(measure_curves(values).assign(**about))
    titles = {"trained": "layer", "freshly initialised": "layer", "simulations": "time"}
    for axis, (title, along) in zip(axes, titles.items(), strict=True):
        axis.axhline(1, color=style.GREY, linewidth=0.8)
        axis.set(yscale="log", title=title, xlabel=f"{along} / last {along}")
    axes[0].set_ylabel("attention to the first token\nover uniform attention")
    axes[0].plot([], [], ":", color=style.GREY, label="strongest head")
    handles = [handle for axis in (axes[0], axes[2]) for handle in axis.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    style.letter(axes)
    found = pd.concat(points, ignore_index=True)
    depths = found["layer"] / found.groupby(["series", "state", "measure"])["layer"].transform("max")
    return figure, found.assign(depth=depths)


def depth(measures: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """A column per model, a row per measure: trained weights in colour, freshly initialised ones in grey."""
    shown = {name: title for name, title in DEPTH.items() if name != "clusters"}
    count = len(measures)
    figure, axes = style.new_figure(len(shown), count, height=4.6, sharex="col", sharey="row")
    points = []
    for column, (model, table) in enumerate(measures.items()):
        for row, (measure, title) in enumerate(shown.items()):
            axis = axes[row * count + column]
            for state, colour, line in ((FRESH, style.GREY, "--"), (TRAINED, COLOURS[model], "-")):
                values = replicates(depth_measures(table), state, measure)
                draw_curve(axis, values, colour, linestyle=line, label=state)
                points.append(measure_curves(values).assign(model=model, state=state, measure=measure))
            axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            if column == 0:
                axis.set_ylabel(title)
        axes[column].set_title(style.CLASSES[model])
        axes[column].legend()
        axes[(len(shown) - 1) * count + column].set_xlabel("layer")
    return figure, pd.concat(points, ignore_index=True)
