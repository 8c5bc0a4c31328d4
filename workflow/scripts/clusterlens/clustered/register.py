"""What each figure of A's simulation study reads: data sets before attention (prepared) or after it (clustered)."""

from clusterlens.provenance import in_tree

Files = dict[str, list[str]]  # the files of each data set, as paths of the workflow

TABLES = ("diabetes", "heart")
ALL = ("picture", *TABLES)


def prepared(*datasets: str) -> Files:
    """For `prepared.picture_tokens` and `prepared.Table.load`."""
    files = {name: ("picture.npz",) if name == "picture" else ("table.csv", "sample.csv") for name in datasets}
    return {name: [f"<resources>/{name}/{file}" for file in (*files[name], "manifest.json")] for name in datasets}


def clustered(*datasets: str) -> Files:
    """For `Clustering.load`."""
    kinds = ("npz", "measures.csv", "spectra.csv", "manifest.json")
    return {name: [f"<results>/attention_clusters/data/{name}.{kind}" for kind in kinds] for name in datasets}


def varied(*datasets: str) -> Files:
    """What `sensitivity.vary` found, and what the paper prints."""
    kinds = ("choices.csv", "choices.manifest.json")
    found = {name: [f"<results>/attention_clusters/data/{name}.{kind}" for kind in kinds] for name in datasets}
    return found | {"published": [in_tree("published/attention_clusters/metrics.csv")]}


READS = {
    "fig1": prepared("picture"),
    "fig2": prepared(*ALL),
    "fig3": clustered("picture"),
    "fig4": clustered("diabetes"),
    "fig5": clustered("heart"),
    "fig6": clustered(*TABLES),
    "fig7": clustered("picture"),
    "fig8": clustered(*TABLES),
    "fig9": clustered(*TABLES),
    "fig10": clustered(*ALL),
    "fig16": prepared(*TABLES),
    "sensitivity": varied(*TABLES),
}
