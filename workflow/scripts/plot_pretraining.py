"""Rule plot_pretraining: losses of the masked language models by epoch (A Figure 11)."""

from clusterlens import job
from clusterlens.figures.output import finish
from clusterlens.figures.pretraining import plot_pretraining
from clusterlens.files import read_json
from clusterlens.training.language_numbers import pretraining_numbers, read_language_runs


def main(smk):
    metrics = read_language_runs(smk.input.runs, smk.params.jobs)
    texts = read_json(smk.input.texts)["texts"]
    numbers = pretraining_numbers(metrics, window=smk.params.window, texts=texts)
    points = metrics.drop(columns=["seconds", "texts_per_second"])
    finish(smk, plot_pretraining(metrics, window=smk.params.window), points, numbers)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
