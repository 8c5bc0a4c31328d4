"""Rule plot_window_masks: masks of the picture under local windows, beside the ground truth (A Fig. 7)."""

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.cluster_points import load, shown_measures, stand_ins
from clusterlens.figures.masks import picture_and_masks, pixel_table
from clusterlens.files import write_csv
from clusterlens.metrics.agreement import subject_mask


def main(smk):
    stored, measures = load(smk.input.tokens), shown_measures(smk.input.measures)
    cases = [f"local {window}" for window in smk.params.windows]
    masks = {case: subject_mask(stored[f"labels {case}"], stored["truth"].shape) for case in cases}
    titles = {"truth": "ground truth"}
    titles |= {case: f"w = {measures[case]['window']:.0f}, dice {measures[case]['dice']:.3f}" for case in cases}
    pixels = pixel_table(stored["image"], {"truth": stored["truth"], **masks})
    figure = picture_and_masks(pixels, titles)
    style.note(figure, style.stand_in_note(stand_ins([smk.input.manifest])))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, pixels)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
