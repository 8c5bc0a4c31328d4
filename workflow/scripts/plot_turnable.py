"""Rule plot_turnable: the 3-D runs of a simulated item as one HTML page that can be turned by hand, offline."""

from clusterlens import job
from clusterlens.figures.particle_viewer import page
from clusterlens.files import write_text
from clusterlens.particles.runs import load
from clusterlens.simulated.item import find


def main(smk):
    film = find(smk.wildcards.paper, smk.wildcards.item).film
    write_text(smk.output.page, page(f"{smk.wildcards.paper} · {smk.wildcards.item}", load(smk.input.arrays), film))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
