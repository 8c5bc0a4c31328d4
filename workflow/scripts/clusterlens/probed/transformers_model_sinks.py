"""Attention to the first token by depth: every probed model and the causal simulation (an addition to T)."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures.layers import sinks
from clusterlens.particles.runs import Run, load
from clusterlens.probing.numbers import sink_numbers

SIMULATIONS = ("fig3", "fig4")  # T's causal ones, which record the attention to the first token


def simulations(files: dict[str, list[str]]) -> dict[str, Run]:
    """By item and variant, those that end when the paper's figures do."""
    runs = [(item, run) for item in SIMULATIONS for run in load(files[item][0])]
    return {f"{item} {run.label}".strip(): run for item, run in runs if not run.label.endswith("_long")}


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    measures = {name: pd.read_csv(paths[0]) for name, paths in files.items() if name not in SIMULATIONS}
    runs = simulations(files)
    return *sinks(measures, runs), sink_numbers(measures, runs)
