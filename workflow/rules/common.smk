# The only place with Python: config checks, registries, and the helpers that rules call.

import csv
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from clusterlens.config import check_config, read_yaml, scale_of
from clusterlens.data import diagnosed, registry, settings
from clusterlens.errors import UserError
from clusterlens.imports import closure
from clusterlens.models.variants import LEARNED, VARIANTS

ROOT = Path(workflow.basedir)
STARTED = time.time()

try:
    check_config(config, ROOT / "workflow" / "schemas")
    DATASETS = registry.load(
        ROOT / "config" / "datasets.yaml", ROOT / "workflow" / "schemas" / "registry" / "datasets.schema.yaml"
    )
    settings.check_named(config["data"])
    diagnosed.check_diagnosis(config["diagnose"])
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


SHIPPED = read_yaml(ROOT / "config" / "config.yaml")
# A run with changed experiments must not pass for the paper's.
config["scale"] = scale_of(config, SHIPPED)
# Table 1 of S counts the paper's models, whatever smaller ones are trained.
PRINTED_ARCHITECTURE = SHIPPED["architecture"]
RUNS = [*VARIANTS, LEARNED]
SEEDS = config["training"]["seeds"]
# What a training run depends on; the other keys say how many runs there are and what is read out of them.
READ_OUT = {"seeds", "gpus", "correlation_images", "correlation_layers"}
RECIPE = {key: value for key, value in config["training"].items() if key not in READ_OUT}
SIMULATED = {paper: list(config["simulations"][paper]) for paper in ("spiking", "transformers", "emergence")}


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


def judged_items():
    """The items whose numbers are compared: all that have rules or, with `verify: {items: existing}`, those on disk."""
    rows = [row for row in built_items() if row["kind"] != "page"]
    if config["verify"]["items"] == "all":
        return rows
    folder = Path(config["pathvars"]["results"])
    return [row for row in rows if (folder / row["paper"] / f"{row['item']}.manifest.json").is_file()]


def judged_numbers():
    """The file of each judged item that holds its numbers: `numbers.csv` where it has one, else its table."""
    paths = []
    for row in judged_items():
        extension = "numbers.csv" if "numbers.csv" in row["files"].split(",") else "csv"
        paths.append(f"<results>/{row['paper']}/{row['item']}.{extension}")
    return paths


def judged_manifests():
    return [f"<results>/{row['paper']}/{row['item']}.manifest.json" for row in judged_items()]


def caption_texts():
    """The standing part of each judged item's caption."""
    return [f"workflow/report/{row['paper']}/{row['item']}.rst" for row in judged_items()]


def caption_targets():
    return [f"<results>/{row['paper']}/{row['item']}.caption.rst" for row in judged_items()]


def published_files():
    """What the papers print, and the names of the data sets behind it, as files of this tree."""
    numbers = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "published").glob("*/*.csv"))
    return ["published/items.tsv", "published/claims.yaml", "config/datasets.yaml", *numbers]


def names_of(kind):
    """The data sets of one kind, as a pattern for the wildcard `dataset`."""
    return "|".join(registry.of_kind(DATASETS, kind))


def own_files(wildcards):
    """The user's own files that a data set is made from, so that editing one prepares it again."""
    return list(settings.named(config["data"][wildcards.dataset]).values())


def retrieval_settings(wildcards):
    """The settings that decide what is retrieved."""
    return settings.retrieval_settings(DATASETS[wildcards.dataset], config["data"][wildcards.dataset])


def mirror_for(wildcards):
    """The mirror, for data sets that are looked for there."""
    chosen = config["data"][wildcards.dataset]
    return None if chosen["source"] == "embedded" or settings.named(chosen) else config["mirror"]


def diagnose_files():
    """The user's own files that a diagnosis reads, so that editing one diagnoses again."""
    return diagnosed.named_files(config["diagnose"])


def diagnose_example():
    """What a diagnosis is made on when the config names no data: the sample of the diabetes table."""
    example = ["<resources>/diabetes/sample.csv", "<resources>/diabetes/manifest.json"]
    return example if diagnosed.uses_example(config["diagnose"]) else []


def data_targets():
    """Every data set; in mini only those that need no network."""
    offline = config["scale"] == "mini"
    names = [name for name, chosen in config["data"].items() if not offline or chosen["source"] in ("embedded", "file")]
    return [f"<resources>/{name}/manifest.json" for name in names]


def print_failures():
    """One line per failed job of this run: the last error of its log."""
    logs = Path(config["pathvars"]["logs"])
    for path in sorted(logs.rglob("*.log")):
        if path.stat().st_mtime >= STARTED:
            errors = [line for line in path.read_text(encoding="utf-8").splitlines() if " ERROR " in line]
            if errors:
                print(f"clusterlens: {errors[-1].partition(' ERROR ')[2]}", file=sys.stderr)


def simulated_items(extension=None, below=""):
    """The simulated items, or those that come with such a file, as a pattern for the wildcard `item`."""
    wanted = {(row["paper"], row["item"]) for row in ITEMS if extension in (None, *row["files"].split(","))}
    pairs = [(paper, item) for paper, items in SIMULATED.items() for item in items if (paper, item) in wanted]
    return "|".join(f"(?<={paper}/{below}){item}" for paper, item in pairs)


def run_list(runs):
    """Run and seed of each training run, in the order in which `collect` names their files."""
    return {"runs": [run for run in runs for _ in SEEDS], "seeds": [seed for _ in runs for seed in SEEDS]}


def checkpoint_folder(wildcards):
    """Where a run keeps its checkpoints: outside its outputs, which Snakemake deletes when a job is killed."""
    return f"{config['pathvars']['results']}/checkpoints/{wildcards.run}/seed{wildcards.seed}"


def growing(minutes):
    """A time limit that grows each time a job is sent again."""
    return lambda wildcards, attempt: minutes * attempt
