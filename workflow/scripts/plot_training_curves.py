"""Rule plot_training_curves: accuracy and loss by epoch (S Figures 3 to 6)."""

from clusterlens import job
from clusterlens.figures.output import finish
from clusterlens.figures.training import curve_points, plot_curves
from clusterlens.metrics.runs import read_runs
from clusterlens.training.numbers import curve_numbers


def main(smk):
    item = smk.wildcards.item
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    finish(smk, plot_curves(metrics, item), curve_points(metrics, item), curve_numbers(metrics, item))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
