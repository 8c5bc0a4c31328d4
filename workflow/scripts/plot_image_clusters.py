"""Rule plot_image_clusters: global attention on the picture, its clusters and the mask they give (A Fig. 3)."""

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.clouds import draw_cloud
from clusterlens.figures.cluster_points import cloud, load, score_line, shown_measures, stand_ins
from clusterlens.figures.masks import draw_mask, draw_picture, pixel_table
from clusterlens.files import write_csv
from clusterlens.metrics.agreement import subject_mask


def main(smk):
    stored, measures = load(smk.input.tokens), shown_measures(smk.input.measures)["global"]
    points = cloud(stored, "global", "Data A")
    mask = subject_mask(stored["labels global"], stored["truth"].shape)
    pixels = pixel_table(stored["image"], {"truth": stored["truth"], "ours": mask})
    figure, axes = style.new_figure(1, 4, height=2.1)
    slot = axes[0].get_subplotspec()
    axes[0].remove()
    axes[0] = figure.add_subplot(slot, projection="3d")
    draw_cloud(axes[0], points, f"silhouette {measures['silhouette']:.2f}")
    draw_picture(axes[1], pixels, "picture")
    draw_mask(axes[2], pixels, "truth", "ground truth")
    draw_mask(axes[3], pixels, "ours", f"from clusters, dice {measures['dice']:.3f}")
    style.note(figure, style.stand_in_note(stand_ins([smk.input.manifest])))
    style.save(figure, smk.output.png, smk.output.pdf)
    tokens = points.drop(columns="panel").join(pixels)
    write_csv(smk.output.points, tokens)
    return {"shown": score_line(measures)}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
