"""Our side of the comparison: an item's numbers and the facts of its manifest."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from clusterlens.errors import UserError
from clusterlens.files import read_json
from clusterlens.provenance import ROOT

TIDY = ["row", "column", "value", "spread", "seeds"]


@cache
def datasets() -> tuple[str, ...]:
    """The names of all data sets and checkpoints."""
    return tuple(yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text(encoding="utf-8")))


def replaced(label: str) -> set[str]:
    """The data sets that a stand-in's label mentions (`digits for CIFAR-10`: cifar10); empty if none is known."""
    return {name for name in datasets() if squeezed(name) in squeezed(label)}


def squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@dataclass(frozen=True)
class Result:
    """An item's numbers, tidy (columns TIDY, cells as texts), with scale, stand-ins and number of seeds."""

    numbers: pd.DataFrame
    scale: str
    stand_ins: tuple[str, ...]
    seeds: int

    def stand_ins_of(self, data: list[str]) -> list[str]:
        """The stand-ins for the named data sets and checkpoints, or all of them when none is named."""
        return [label for label in self.stand_ins if not data or not replaced(label) or replaced(label) & set(data)]

    def fair(self, needs: str, data: list[str]) -> bool:
        """Whether it can be held against the paper: `needs` is nothing, real `data`, or `paper` scale as well."""
        if not needs:
            return True
        return not self.stand_ins_of(data) and (needs == "data" or self.scale == "paper")


def read_result(folder: Path, item: str, files: str) -> Result:
    """An item from its paper's result folder: `numbers.csv` where the item has one, else its table."""
    manifest = read_json(folder / f"{item}.manifest.json")
    tidy = "numbers.csv" in files.split(",")
    path = folder / (f"{item}.numbers.csv" if tidy else f"{item}.csv")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    numbers = check_tidy(table, path) if tidy else melt(table)
    return Result(numbers, manifest["scale"], tuple(manifest["stand_ins"]), len(manifest["seeds"]))


def check_tidy(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    if list(table.columns) != TIDY:
        raise UserError(f"{path} has the columns {', '.join(table.columns)}; it must have {', '.join(TIDY)}")
    return table


def melt(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its row labels in the first column as tidy numbers; `<column> ±` is the spread of `<column>`."""
    label, *columns = table.columns
    empty = pd.Series("", index=table.index)
    blocks = [
        pd.DataFrame(
            {
                "row": table[label].str.strip(),
                "column": column,
                "value": table[column],
                "spread": table.get(f"{column} ±", empty),
                "seeds": "",
            }
        )
        for column in columns
        if not column.endswith(" ±")
    ]
    return pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame(columns=TIDY)


def read_results(manifests: list[str], items: pd.DataFrame) -> dict[tuple[str, str], Result]:
    """The results that lie beside these manifests (`<results>/<paper>/<item>.manifest.json`), by paper and item."""
    files = {(row["paper"], row["item"]): row["files"] for row in items.to_dict("records")}
    found = {}
    for path in map(Path, manifests):
        paper, item = path.parent.name, path.name.removesuffix(".manifest.json")
        found[paper, item] = read_result(path.parent, item, files[paper, item])
    return found
