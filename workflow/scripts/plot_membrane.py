"""Rule plot_membrane: learned against fixed membrane constants, by heads, constants and particles (S aim 2)."""

import pandas as pd

from clusterlens import job, provenance
from clusterlens.figures import style
from clusterlens.figures.heads import membrane_numbers, plot_membrane
from clusterlens.files import write_csv
from clusterlens.metrics.runs import final_epoch, read_runs
from clusterlens.models.variants import LEARNED


def main(smk):
    layers, constants = pd.read_csv(smk.input.layers), pd.read_csv(smk.input.constants)
    particles = pd.read_csv(smk.input.particles)
    final = final_epoch(read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds))
    figure = plot_membrane(layers, constants, particles, smk.params.fixed)
    style.note(figure, style.stand_in_note(provenance.upstream([smk.input.manifest])["stand_ins"]))
    style.save(figure, smk.output.png, smk.output.pdf)
    chosen = layers[layers["run"].isin(["spikformer", LEARNED])]
    parts = [chosen.assign(part="heads"), constants.assign(part="constants"), particles.assign(part="particles")]
    write_csv(smk.output.points, pd.concat(parts, ignore_index=True))
    write_csv(smk.output.numbers, membrane_numbers(layers, final, particles, constants))
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
