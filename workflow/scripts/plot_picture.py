"""Rule plot_picture: the picture and its mask (A Fig. 1)."""

from pathlib import Path

from clusterlens import job
from clusterlens.data.formats import read_picture
from clusterlens.figures import style
from clusterlens.figures.cluster_points import stand_ins
from clusterlens.figures.masks import picture_and_masks, pixel_table
from clusterlens.files import write_csv


def main(smk):
    image, mask = read_picture(Path(smk.input.picture))
    pixels = pixel_table(image, {"mask": mask})
    figure = picture_and_masks(pixels, {"mask": "ground truth"})
    style.note(figure, style.stand_in_note(stand_ins([smk.input.manifest])))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, pixels)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
