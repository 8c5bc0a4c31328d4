"""Rule plot_training_curves: accuracy and loss by epoch (S Figures 3 to 6)."""

from clusterlens import job, provenance
from clusterlens.figures import style
from clusterlens.figures.training import curve_numbers, curve_points, plot_curves
from clusterlens.files import write_csv
from clusterlens.metrics.runs import read_runs


def main(smk):
    item = smk.wildcards.item
    metrics = read_runs(smk.input.metrics, smk.params.runs, smk.params.seeds)
    figure = plot_curves(metrics, item)
    style.note(figure, style.stand_in_note(provenance.upstream(list(smk.input.manifests))["stand_ins"]))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, curve_points(metrics, item))
    write_csv(smk.output.numbers, curve_numbers(metrics, item))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
