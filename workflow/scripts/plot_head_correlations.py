"""Rule plot_head_correlations: heatmaps of the baselines by layer and the curve over depth (S Figures 2 and 7)."""

import pandas as pd

from clusterlens import job, provenance
from clusterlens.errors import UserError
from clusterlens.figures import style
from clusterlens.figures.heads import BASELINE, head_numbers, plot_heads
from clusterlens.files import write_csv


def main(smk):
    item = smk.wildcards.item
    pairs, layers = pd.read_csv(smk.input.pairs), pd.read_csv(smk.input.layers)
    chosen = [layer for layer in smk.params.layers if layer <= layers["layer"].max()]
    if not chosen:
        depth = layers["layer"].max()
        raise UserError(
            f"training correlation_layers {smk.params.layers} are beyond the depth {depth}: name layers up to it"
        )
    figure = plot_heads(pairs, layers, item, chosen)
    style.note(figure, style.stand_in_note(provenance.upstream([smk.input.manifest])["stand_ins"]))
    style.save(figure, smk.output.png, smk.output.pdf)
    shown = pairs[(pairs["run"] == BASELINE[item]) & pairs["layer"].isin(chosen)].assign(part="heatmap")
    write_csv(smk.output.points, pd.concat([shown, layers.assign(part="curve")], ignore_index=True))
    write_csv(smk.output.numbers, head_numbers(layers, item))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
