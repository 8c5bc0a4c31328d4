"""The register of tables and figures, published/items.tsv, and every path that follows from one of its rows."""

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clusterlens.errors import UserError
from clusterlens.provenance import ROOT, in_tree
from clusterlens.schema import checked

PUBLISHED = ROOT / "published"
PAPERS = {
    "spiking": "S · Clustering in Spiking Transformers",
    "transformers": "T · Clustering in Transformers",
    "emergence": "E · Emergence of Clustering in Self-Attention",
    "attention_clusters": "A · Attention Clusters",
}


@dataclass(frozen=True)
class Item:
    """One table, figure or page. Paths start with `<results>`, which the config's `pathvars` resolve."""

    paper: str
    name: str
    study: str
    kind: str
    title: str
    shows: str
    extensions: tuple[str, ...]
    gpu: bool
    mini_seconds: str
    paper_time: str
    built: bool
    source: str

    def path(self, extension: str) -> str:
        return f"<results>/{self.paper}/{self.name}.{extension}"

    @property
    def files(self) -> list[str]:
        """Every file that the item consists of, without its manifest."""
        return [self.path(extension) for extension in self.extensions]

    @property
    def numbers(self) -> str:
        """What claims and the comparison read: the numbers behind a table or figure, with their intervals and seeds."""
        return self.path("numbers.csv")

    @property
    def manifest(self) -> str:
        return self.path("manifest.json")

    @property
    def caption(self) -> str:
        """The caption with its verdicts, composed when the claims are judged."""
        return self.path("caption.rst")

    @property
    def caption_text(self) -> str:
        """The standing part of the caption, in the tree."""
        return in_tree(f"workflow/report/{self.paper}/{self.name}.rst")

    @property
    def page(self) -> str:
        """Its page in the atlas."""
        return f"<results>/atlas/{self.paper}.{self.name}.html"

    @property
    def simulated(self) -> bool:
        """Whether it has settings of its own in `simulations`; flows of trained heads have theirs in `probing`."""
        return self.study == "particles"

    @property
    def judged(self) -> bool:
        return self.built and self.kind != "page"

    @property
    def target(self) -> str:
        """What a user asks Snakemake for."""
        if self.kind == "page":
            return f"results/{self.name}/report.html"
        name = f"{self.name}.{self.extensions[0]}"
        return f"results/{name}" if self.paper == "spiking" else f"results/{self.paper}/{name}"


class Register:
    """All items, in the order of the file."""

    def __init__(self, items: list[Item]):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    @cached_property
    def by_name(self) -> dict[tuple[str, str], Item]:
        return {(item.paper, item.name): item for item in self.items}

    def __getitem__(self, key: tuple[str, str]) -> Item:
        return self.by_name[key]

    def of(self, paper: str | None = None) -> list[Item]:
        """The items that have rules, of one paper or of all."""
        return [item for item in self.items if item.built and paper in (None, item.paper)]

    def names(self, paper: str) -> list[str]:
        return [item.name for item in self.items if item.paper == paper]

    def pattern(self, *studies: str, extension: str, below: str = "") -> str:
        """The items of these studies that come with such a file, as a pattern for the wildcard `item` of a path."""
        chosen = [item for item in self.of() if item.study in studies and extension in item.extensions]
        return "|".join(f"(?<={item.paper}/{below}){item.name}" for item in chosen)


def read_rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    """The rows of a file with a header, cells as texts."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter, restkey="(too many cells)", restval=""))


def read_items(folder: Path = PUBLISHED) -> Register:
    """The register, every row checked."""
    items: list[Item] = []
    for line, row in enumerate(read_rows(folder / "items.tsv", "\t"), start=2):
        checked(row, "items", f"items.tsv line {line}")
        if any((item.paper, item.name) == (row["paper"], row["item"]) for item in items):
            raise UserError(f"items.tsv line {line}: {row['paper']}/{row['item']} is named twice")
        files, gpu, state = row.pop("files"), row.pop("gpu"), row.pop("state")
        name, extensions = row.pop("item"), tuple(files.split(","))
        items.append(Item(name=name, extensions=extensions, gpu=gpu == "yes", built=state == "built", **row))
    return Register(items)
