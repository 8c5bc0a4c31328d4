"""Rule table_configuration: the hyperparameters in effect, as S Table 4 and A Tables 2 and 3 print them."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.figures.configuration import SECTIONS, TABLES
from clusterlens.metrics.numbers import cells, tidy


def main(smk):
    paper = smk.params.paper
    sections = {name: smk.params[name] for name in SECTIONS[paper]}
    table = TABLES[paper, smk.wildcards.item](**sections)
    write_csv(smk.output.table, table)
    write_csv(smk.output.numbers, tidy(cells(table)))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
