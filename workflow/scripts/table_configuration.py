"""Rule table_configuration: the hyperparameters in effect, as S Table 4 and A Tables 2 and 3 print them."""

from clusterlens import job
from clusterlens.figures.configuration import TABLES
from clusterlens.files import write_csv


def main(smk):
    table = TABLES[smk.wildcards.paper, smk.wildcards.item](**smk.params.settings)
    write_csv(smk.output.table, table)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
