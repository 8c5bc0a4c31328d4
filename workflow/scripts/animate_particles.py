"""Rule animate_particles: the runs of a simulated item as GIF and MP4."""

from clusterlens import job
from clusterlens.figures.particle_animation import frames, write_gif, write_mp4
from clusterlens.particles.runs import load
from clusterlens.simulated.item import find


def main(smk):
    film = find(smk.wildcards.paper, smk.wildcards.item).film
    pictures = list(frames(load(smk.input.arrays), film, smk.params.frames))
    write_gif(smk.output.gif, pictures)
    write_mp4(smk.output.mp4, pictures)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
