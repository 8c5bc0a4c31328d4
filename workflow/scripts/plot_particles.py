"""Rule plot_particles: the figure of a simulated item, its points and its numbers."""

from clusterlens import job
from clusterlens.figures.output import finish
from clusterlens.particles.numbers import points
from clusterlens.particles.runs import load
from clusterlens.simulated.item import find


def main(smk):
    item = find(smk.wildcards.paper, smk.wildcards.item)
    runs = load(smk.input.arrays)
    finish(smk, item.draw(runs), points(runs), item.numbers(runs))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
