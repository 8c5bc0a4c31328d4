"""Rule plot_start_clouds: the standardised tokens of the three data sets before any attention (A Fig. 2)."""

from pathlib import Path

import pandas as pd
from matplotlib.colors import to_hex

from clusterlens import job
from clusterlens.data.formats import read_picture
from clusterlens.figures import style
from clusterlens.figures.clouds import draw_cloud
from clusterlens.figures.cluster_points import DATA_NAMES, positions, stand_ins
from clusterlens.files import read_json, write_csv
from clusterlens.metrics.standard import zscore


def pixels(path: Path, panel: str) -> pd.DataFrame:
    image, _ = read_picture(path)
    colours = image.reshape(-1, 3)
    return positions(zscore(colours.astype(float)), panel).assign(colour=[to_hex(pixel / 255) for pixel in colours])


def samples(path: str, facts: dict, panel: str) -> pd.DataFrame:
    table = pd.read_csv(path)
    colours = [style.ORANGE if positive else style.BLUE for positive in table[facts["label"]]]
    return positions(zscore(table[facts["features"]].to_numpy(float)), panel).assign(colour=colours)


def main(smk):
    parts, axis_labels = [pixels(Path(smk.input.picture), DATA_NAMES["picture"])], [("red", "green", "blue")]
    for name, path, manifest in zip(smk.params.names, smk.input.samples, smk.input.table_manifests, strict=True):
        facts = read_json(manifest)
        parts.append(samples(path, facts, DATA_NAMES[name]))
        axis_labels.append(tuple(feature.replace("_", " ") for feature in facts["features"]))
    figure, axes = style.new_figure(1, len(parts), height=2.55, subplot_kw={"projection": "3d"})
    for axis, points, labels in zip(axes, parts, axis_labels, strict=True):
        draw_cloud(axis, points, points["panel"].iloc[0], labels)
    style.letter(axes)
    label = style.stand_in_note(stand_ins([smk.input.picture_manifest, *smk.input.table_manifests]))
    style.note(figure, label)
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, pd.concat(parts))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
