"""Rule table_best: the best value of each column over the epochs, for the six variants (S Table 3)."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.runs import best_epochs, read_runs, variants_table
from clusterlens.models.variants import VARIANTS


def main(smk):
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    write_csv(smk.output.table, variants_table(best_epochs(metrics), VARIANTS))
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
