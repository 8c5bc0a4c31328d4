"""Rule plot_window_clouds: clusters of the two tables under local windows (A Fig. 6)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import DATA_NAMES, cloud, load, shown_measures, stand_ins
from clusterlens.files import write_csv


def main(smk):
    parts, titles = [], {}
    for name, tokens, measured in zip(smk.params.names, smk.input.tokens, smk.input.measures, strict=True):
        stored, measures = load(tokens), shown_measures(measured)
        for case in [*(f"local {window}" for window in smk.params.windows), "global"]:
            found, panel = measures[case], f"{DATA_NAMES[name]} {case}"
            parts.append(cloud(stored, case, panel))
            what = "global attention" if case == "global" else f"w = {found['window']:.0f}"
            titles[panel] = (
                f"{DATA_NAMES[name]}, {what}\nsilhouette {found['silhouette']:.2f}, {found['fragments']:.0f} fragments"
            )
    points = pd.concat(parts)
    figure = clouds(points, titles, columns=len(smk.params.windows) + 1)
    style.note(figure, style.stand_in_note(stand_ins(smk.input.manifests)))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
