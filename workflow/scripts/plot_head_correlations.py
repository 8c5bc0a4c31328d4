"""Rule plot_head_correlations: heatmaps of the baselines by layer and the curve over depth (S Figures 2 and 7)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures.heads import plot_heads
from clusterlens.figures.output import finish
from clusterlens.training.numbers import BASELINE, head_numbers, trained_heads


def main(smk):
    item = smk.wildcards.item
    pairs, layers = pd.read_csv(smk.input.pairs), trained_heads(smk.input.layers)
    chosen = [layer for layer in smk.params.layers if layer <= layers["layer"].max()]
    shown = pairs[(pairs["run"] == BASELINE[item]) & pairs["layer"].isin(chosen)].assign(part="heatmap")
    points = pd.concat([shown, layers.assign(part="curve")], ignore_index=True)
    finish(smk, plot_heads(pairs, layers, item, chosen), points, head_numbers(layers, item))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
