"""What the atlas shows, read from a tree of results: items with their files, numbers and manifests, and all claims."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from clusterlens.atlas import verdicts
from clusterlens.atlas.settings import Job, jobs_behind
from clusterlens.files import read_json
from clusterlens.items import Item, read_items
from clusterlens.metrics.shown import merge_intervals
from clusterlens.provenance import ROOT
from clusterlens.verify.compare import COLUMNS
from clusterlens.verify.results import DATA, NO_RESULT, data_kind


@dataclass(frozen=True)
class Entry:
    """One item as far as it is there."""

    item: Item
    results: Path
    caption: str
    manifest: dict
    claims: list[dict]
    numbers: list[dict]
    jobs: list[Job]

    @property
    def page(self) -> str:
        return Path(self.item.page).name

    @property
    def state(self) -> str:
        """`done`, `not run` (a rule makes it, but there is no result) or `not built` (no rule makes it yet)."""
        return "done" if self.manifest else "not run" if self.item.built else "not built"

    @property
    def stand_ins(self) -> list[str]:
        return [entry["label"] for entry in self.manifest.get("stand_ins", [])]

    @property
    def scale(self) -> str:
        return self.manifest.get("scale", "")

    @property
    def data(self) -> str:
        return data_kind(self.scale, self.manifest.get("stand_ins", []))

    def link(self, *extensions: str) -> str:
        """The first of the item's files with one of these extensions that is there, as the pages address it."""
        for extension in extensions:
            if extension in self.item.extensions and self.file(extension).is_file():
                return f"../{self.item.paper}/{self.item.name}.{extension}"
        return ""

    def file(self, extension: str) -> Path:
        return self.results / self.item.paper / f"{self.item.name}.{extension}"

    @property
    def missing(self) -> list[str]:
        """Files that the item consists of and that are not there; none of them is expected before it has run."""
        wanted = self.item.extensions if self.manifest else ()
        return [f"{self.item.paper}/{self.item.name}.{one}" for one in wanted if not self.file(one).is_file()]

    @cached_property
    def table(self) -> list[list[tuple[str, str]]]:
        """The cells of a table item, header first, each with its interval."""
        if self.item.kind != "table" or not self.file("csv").is_file():
            return []
        return merge_intervals(read_texts(self.file("csv")))


@dataclass(frozen=True)
class Atlas:
    """Everything that the pages show, of the numbers the printed ones first.

    `label` is the name of the config, `tree` the folder of the results.
    """

    entries: list[Entry]
    claims: list[dict]
    numbers: list[dict]
    findings: dict
    label: str
    tree: Path

    def of(self, paper: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.item.paper == paper]

    def claim(self, name: str) -> dict | None:
        return next((claim for claim in self.claims if claim["id"] == name), None)

    @property
    def has_picture(self) -> bool:
        return (self.tree / "verdicts.png").is_file()

    def stand_ins(self) -> dict[str, int]:
        """Each stand-in with the number of results that rest on it."""
        labels = [label for entry in self.entries for label in entry.stand_ins]
        return {label: labels.count(label) for label in sorted(set(labels))}

    def data_counts(self) -> dict[str, int]:
        kinds = [entry.data for entry in self.entries]
        return {kind: kinds.count(kind) for kind in DATA}

    def command(self, item: Item) -> str:
        """What to type to make an item, with the config that this atlas shows."""
        overlay = f"config/{self.label}.yaml"
        words = ["snakemake", "--cores 2", *(["--resources gpu=1"] if item.gpu else [])]
        words += [f"--configfile {overlay}"] if (ROOT / overlay).is_file() else []
        return " ".join([*words, "--", item.target.replace("results/", f"{self.tree.as_posix()}/", 1)])


def counted(claims: list[dict]) -> dict[str, int]:
    """How many claims have each verdict, for the verdicts that occur."""
    found = [claim["verdict"] for claim in claims]
    return {verdict: found.count(verdict) for verdict in verdicts.ORDER if verdict in found}


def read_texts(path: Path) -> pd.DataFrame:
    """A table with all cells as texts; empty where there is no file."""
    return pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else pd.DataFrame()


def collect(tree: Path, *, findings: dict, label: str) -> Atlas:
    """The atlas of the results in the folder `tree`."""
    claims = [described(claim) for claim in read_texts(tree / "claims.csv").to_dict("records")]
    compared = [described(row) for row in read_texts(tree / "comparison.csv").to_dict("records")]
    entries = [read_entry(tree, item, claims, compared) for item in read_items()]
    numbers = [row for entry in entries for row in entry.numbers]
    numbers.sort(key=lambda row: not row["published"])
    return Atlas(entries, claims, numbers, findings, label, tree)


def described(row: dict) -> dict:
    """A claim or a number with what it rests on and the place of its verdict in their order."""
    return row | {"kind": row["kind"] or NO_RESULT, "rank": verdicts.rank(row["verdict"])}


def read_entry(tree: Path, item: Item, claims: list[dict], compared: list[dict]) -> Entry:
    def own(rows: list[dict]) -> list[dict]:
        return [row for row in rows if (row["paper"], row["item"]) == (item.paper, item.name)]

    folder = tree / item.paper
    path, text = folder / f"{item.name}.manifest.json", ROOT / item.caption_text
    manifest = read_json(path) if path.is_file() else {}
    caption = text.read_text(encoding="utf-8") if text.is_file() else ""
    ours = read_texts(folder / f"{item.name}.numbers.csv").to_dict("records") if manifest else []
    numbers = join(item, ours, own(compared), manifest)
    return Entry(item, tree, caption, manifest, own(claims), numbers, jobs_behind(manifest, tree))


def join(item: Item, ours: list[dict], printed: list[dict], manifest: dict) -> list[dict]:
    """An item's numbers in their order, each with the printed one where there is one; printed ones we lack follow."""
    by_label = {(row["row"], row["column"]): row for row in printed}
    stand_ins, scale = manifest.get("stand_ins", []), manifest.get("scale", "")
    data = "; ".join(entry["label"] for entry in stand_ins)
    rows = []
    for number in ours:
        found = by_label.pop((number["row"], number["column"]), None)
        plain = dict.fromkeys(COLUMNS, "") | {"paper": item.paper, "item": item.name, "ours": number["value"]}
        plain |= {name: number[name] for name in ("row", "column", "low", "high")}
        plain |= {"scale": scale, "data": data, "kind": data_kind(scale, stand_ins)}
        seeds = number["seeds"] if number["by_seed"] else ""  # an exact number has none
        rows.append((found or described(plain)) | {"seeds": seeds})
    return rows + list(by_label.values())
