"""Rule plot_correlations: correlation matrices of the features and labels of the two tables (A Fig. 16)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.cluster_points import DATA_NAMES, stand_ins
from clusterlens.figures.correlations import correlation_maps, correlation_table
from clusterlens.files import read_json, write_csv


def main(smk):
    labels = [read_json(path)["label"] for path in smk.input.manifests]
    tables = {
        DATA_NAMES[name]: pd.read_csv(path) for name, path in zip(smk.params.names, smk.input.tables, strict=True)
    }
    correlations = correlation_table(tables)
    figure = correlation_maps(correlations)
    style.note(figure, style.stand_in_note(stand_ins(smk.input.manifests)))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, correlations)
    rows = []
    for panel, label in zip(tables, labels, strict=True):
        part = correlations[(correlations["panel"] == panel) & (correlations["column"] == label)]
        rows += [
            (f"{panel} {row}", "correlation with label", value, "", 1)
            for row, value in zip(part["row"], part["correlation"], strict=True)
            if row != label
        ]
    write_csv(smk.output.numbers, pd.DataFrame(rows, columns=["row", "column", "value", "spread", "seeds"]))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
