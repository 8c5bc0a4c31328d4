"""Rule plot_table_clusters: global attention on a table, with attention lines and leaders (A Figs. 4 and 5)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.clouds import attention_cloud
from clusterlens.figures.cluster_points import DATA_NAMES, cloud, load, score_line, shown_measures, stand_ins
from clusterlens.files import read_json, write_csv


def main(smk):
    name = smk.params.dataset
    stored, measures, facts = load(smk.input.tokens), shown_measures(smk.input.measures), read_json(smk.input.manifest)
    links = pd.read_csv(smk.input.links)
    points = cloud(stored, "global", DATA_NAMES[name])
    points["star"] = stored["leaders"].astype(int)
    axis_labels = tuple(feature.replace("_", " ") for feature in facts["features"])
    score = score_line(measures["global"])
    figure = attention_cloud(points, links, f"{DATA_NAMES[name]}: {score}", axis_labels)
    style.note(figure, style.stand_in_note(stand_ins([smk.input.manifest])))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points)
    rows = [("leaders", "share of strongest links", facts["link_share"], "", 1)]
    for measure in ("silhouette", "accuracy", "coverage", "accuracy all clusters", "clusters"):
        rows.append((f"{DATA_NAMES[name]} global", measure, measures["global"][measure], "", 1))
    if hasattr(smk.output, "numbers"):
        write_csv(smk.output.numbers, pd.DataFrame(rows, columns=["row", "column", "value", "spread", "seeds"]))
    return {"shown": score}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
