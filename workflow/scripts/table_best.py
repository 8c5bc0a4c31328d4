"""Rule table_best: the best value of each column over the epochs, for the six variants (S Table 3)."""

from clusterlens import job
from clusterlens.files import write_csv
from clusterlens.metrics.runs import best_epochs, over_seeds, read_runs
from clusterlens.models.variants import VARIANTS


def main(smk):
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    write_csv(smk.output.table, over_seeds(best_epochs(metrics), VARIANTS))
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
