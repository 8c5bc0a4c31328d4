"""Rule plot_verdicts: all claims by paper, item and verdict, in one picture."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.verdicts import draw_verdicts
from clusterlens.items import read_items


def main(smk):
    claims, comparison = (
        pd.read_csv(path, dtype=str, keep_default_na=False) for path in (smk.input.claims, smk.input.comparison)
    )
    figure = draw_verdicts(claims, comparison, read_items(), scale=smk.params.label)
    style.save(figure, smk.output.png, smk.output.pdf)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
