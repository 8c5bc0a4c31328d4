"""Rule table_metrics: every number of A's text by data set and pattern, mean and spread over samples (A §3)."""

from clusterlens import job
from clusterlens.attention.cases import DATA_NAMES
from clusterlens.data.formats import write_csv
from clusterlens.logs import log
from clusterlens.metrics.summary import metrics_table


def main(smk):
    table = metrics_table(dict(zip(DATA_NAMES.values(), smk.input.measures, strict=True)))
    write_csv(smk.output.table, table)
    log.info("\n%s", table.to_string(index=False, na_rep=""))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
