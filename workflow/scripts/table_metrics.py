"""Rule table_metrics: every number of A's text by data set and pattern, mean and 95 % interval over samples (A §3)."""

from clusterlens import job
from clusterlens.attention.cases import DATA_NAMES
from clusterlens.data.formats import write_csv
from clusterlens.logs import log
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.summary import metrics_numbers, metrics_table, read_measures


def main(smk):
    measures = read_measures(dict(zip(DATA_NAMES.values(), smk.input.measures, strict=True)))
    table = metrics_table(measures)
    write_csv(smk.output.table, table)
    write_csv(smk.output.numbers, tidy(metrics_numbers(measures)))
    log.info("\n%s", table.to_string(index=False, na_rep=""))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
