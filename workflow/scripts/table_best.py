"""Rule table_best: the best value of each column over the epochs, for the six variants (S Table 3)."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.runs import best_epochs, read_runs, variants_numbers, variants_table
from clusterlens.models.variants import VARIANTS


def main(smk):
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    by_seed = best_epochs(metrics)
    write_csv(smk.output.table, variants_table(by_seed, VARIANTS))
    write_csv(smk.output.numbers, tidy(variants_numbers(by_seed, VARIANTS)))
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
