"""Rule animate_particles: the runs of a simulated item as GIF and MP4."""

from clusterlens import job
from clusterlens.figures.particle_animation import frames, write_gif, write_mp4
from clusterlens.figures.particle_data import load
from clusterlens.figures.particle_films import FILMS


def main(smk):
    runs = load(smk.input.arrays)
    panels = [
        (runs[index], colour, title, first)
        for index, colour, title, first in FILMS[smk.wildcards.paper, smk.wildcards.item]
    ]
    pictures = list(frames(panels, smk.params.frames))
    write_gif(smk.output.gif, pictures)
    write_mp4(smk.output.mp4, pictures)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
