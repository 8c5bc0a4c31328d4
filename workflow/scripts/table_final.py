"""Rule table_final: losses and accuracies of the six variants after the last epoch (S Table 2)."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.runs import final_epoch, read_runs, variants_numbers, variants_table
from clusterlens.models.variants import VARIANTS


def main(smk):
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    by_seed = final_epoch(metrics)
    write_csv(smk.output.table, variants_table(by_seed, VARIANTS))
    write_csv(smk.output.numbers, tidy(variants_numbers(by_seed, VARIANTS)))
    return {"seeds": sorted(set(smk.params.seeds))}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
