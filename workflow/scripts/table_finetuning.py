"""Rule table_finetuning: pre-training loss, accuracy and F1 of every arm, and the paired differences (A Table 1)."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.numbers import tidy
from clusterlens.models.arms import TASKS
from clusterlens.training.language_numbers import (
    final_results,
    finetuning_numbers,
    finetuning_table,
    read_language_runs,
)


def main(smk):
    jobs, window = smk.params.jobs, smk.params.window
    pretrained = read_language_runs(smk.input.pretrained, jobs)
    finetuned = {task: read_language_runs(smk.input.finetuned, jobs, suffix=f"_{task}") for task in TASKS}
    numbers = finetuning_numbers(final_results(pretrained, finetuned, window), window)
    write_csv(smk.output.table, finetuning_table(numbers))
    write_csv(smk.output.numbers, tidy(numbers))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
