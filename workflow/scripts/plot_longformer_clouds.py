"""Rule plot_longformer_clouds: Longformer's pattern with dot-product scaling on the three data sets (A Fig. 10)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import DATA_NAMES, cloud, load, score_line, shown_measures, stand_ins
from clusterlens.files import write_csv


def main(smk):
    case = f"longformer {max(smk.params.windows)}"
    parts, titles = [], {}
    for name, tokens, measured in zip(smk.params.names, smk.input.tokens, smk.input.measures, strict=True):
        found = shown_measures(measured)[case]
        points = cloud(load(tokens), case, DATA_NAMES[name])
        tokens_shown = [token % len(points) for token in smk.params.global_tokens[name]]
        parts.append(points.assign(star=points["token"].isin(tokens_shown).astype(int)))
        scores = score_line(found).replace(", ", "\n", 1)
        titles[DATA_NAMES[name]] = f"{DATA_NAMES[name]}, w = {found['window']:.0f}: {scores}"
    points = pd.concat(parts)
    figure = clouds(points, titles, columns=len(titles))
    style.note(figure, style.stand_in_note(stand_ins(smk.input.manifests)))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
