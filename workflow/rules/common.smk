# The only place with Python: config checks, registries, and the helpers that rules call.

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from clusterlens.config import check_config
from clusterlens.errors import UserError
from clusterlens.imports import closure

ROOT = Path(workflow.basedir)

try:
    check_config(config, ROOT / "workflow" / "schemas")
except UserError as error:
    sys.exit(f"clusterlens: {error}")

PAPERS = {
    "spiking": "S · Clustering in Spiking Transformers",
    "transformers": "T · Clustering in Transformers",
    "emergence": "E · Emergence of Clustering in Self-Attention",
    "attention_clusters": "A · Attention Clusters",
}

with (ROOT / "published" / "items.tsv").open(encoding="utf-8") as stream:
    ITEMS = list(csv.DictReader(stream, delimiter="\t"))


def built_items(paper=None):
    """The items that have rules, of one paper or of all."""
    return [row for row in ITEMS if row["state"] == "built" and paper in (None, row["paper"])]


def item_files(row):
    """Every file that an item consists of, without its manifest."""
    return [f"<results>/{row['paper']}/{row['item']}.{extension}" for extension in row["files"].split(",")]


def item_targets(paper=None):
    return [path for row in built_items(paper) for path in item_files(row)]


def code(script):
    """The library files that a script imports, so that editing one reruns exactly the jobs that use it."""
    return [str(file.relative_to(ROOT)) for file in closure(ROOT / "workflow" / "scripts" / f"{script}.py")]


def shown(path):
    """Mark an item's file for the report. In `<results>/<paper>/<item>.<ext>` paper and item may be names or wildcards.

    The caption is composed when the claims are judged: see rule write_captions.
    """
    _, paper, name = path.split("/")
    item, extension = name.split(".", 1)

    def category(wildcards):
        return PAPERS[paper.format(**dict(wildcards.items()))]

    def labels(wildcards):
        known = dict(wildcards.items())
        key = paper.format(**known), item.format(**known)
        title = next(row["title"] for row in ITEMS if (row["paper"], row["item"]) == key)
        return {"item": key[1], "shows": title, "file": extension}

    return report(path, caption="../report/item.rst", category=category, labels=labels)


def configuration_of(wildcards):
    """The config sections that a table of hyperparameters is rendered from."""
    sections = ["architecture", "training"] if wildcards.paper == "spiking" else ["language_model"]
    return {section: config[section] for section in sections}
