"""Rule table_energy: operations and energy per image of the six variants (S Section 8)."""

import pandas as pd

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.energy import energy_table
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.runs import variants_numbers, variants_table
from clusterlens.models.variants import VARIANTS


def main(smk):
    by_seed = energy_table(pd.read_csv(smk.input.operations))
    shown = variants_table(by_seed, VARIANTS)
    write_csv(smk.output.table, shown.loc[:, (shown != 0).any()])  # counts that no seed changes have no interval
    write_csv(smk.output.numbers, tidy(variants_numbers(by_seed, VARIANTS)))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
