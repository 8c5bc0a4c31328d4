"""Rule plot_particles: the figure of a simulated item, its points and its numbers."""

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.particle_data import load, points
from clusterlens.figures.particle_items import FIGURES, numbers
from clusterlens.files import write_csv


def main(smk):
    runs = load(smk.input.arrays)
    style.save(FIGURES[smk.wildcards.paper, smk.wildcards.item](runs), smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points(runs))
    write_csv(smk.output.numbers, numbers(smk.wildcards.item, runs))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
