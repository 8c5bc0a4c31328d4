"""Rule plot_membrane: learned against fixed membrane constants, by heads, constants and particles (S aim 2)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures.heads import plot_membrane
from clusterlens.figures.output import finish
from clusterlens.metrics.runs import final_epoch, read_runs
from clusterlens.models.variants import LEARNED
from clusterlens.training.numbers import membrane_numbers, trained_heads


def main(smk):
    layers, constants = trained_heads(smk.input.layers), pd.read_csv(smk.input.constants)
    particles = pd.read_csv(smk.input.particles)
    final = final_epoch(read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds))
    chosen = layers[layers["run"].isin(["spikformer", LEARNED])]
    parts = [chosen.assign(part="heads"), constants.assign(part="constants"), particles.assign(part="particles")]
    figure = plot_membrane(layers, constants, particles, smk.params.fixed)
    found = membrane_numbers(layers, final, particles, constants)
    finish(smk, figure, pd.concat(parts, ignore_index=True), found)
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
