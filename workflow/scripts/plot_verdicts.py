"""Rule plot_verdicts: all claims by paper, item and verdict, in one picture."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.verdicts import draw_verdicts


def main(smk):
    claims, comparison, items = (
        pd.read_csv(path, sep="\t" if path.endswith(".tsv") else ",", dtype=str, keep_default_na=False)
        for path in (smk.input.claims, smk.input.comparison, smk.input.registry)
    )
    figure = draw_verdicts(claims, comparison, items, papers=smk.params.papers, scale=smk.params.scale)
    style.save(figure, smk.output.png, smk.output.pdf)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
