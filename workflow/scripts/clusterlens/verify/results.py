"""Our side of the comparison: an item's numbers and the facts of its manifest."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from clusterlens.errors import UserError
from clusterlens.files import read_json
from clusterlens.items import Item, Register
from clusterlens.metrics.numbers import TIDY
from clusterlens.provenance import LAPTOP, PAPER, REAL

DATA = AS_IN_THE_PAPER, SMALLER, STAND_INS, NO_RESULT = "as in the paper", "smaller scale", "stand-in data", "no result"


def data_kind(scale: str, stand_ins: Iterable[dict]) -> str:
    """What a result rests on, as one of `DATA`; no scale means no result. Part of the real data is a smaller scale."""
    if not scale:
        return NO_RESULT
    kinds = {entry.get("kind") for entry in stand_ins}
    return STAND_INS if kinds - {REAL} else SMALLER if kinds or scale != PAPER else AS_IN_THE_PAPER


@dataclass(frozen=True)
class Result:
    """An item's numbers, tidy with cells as texts, with scale, stand-ins and number of seeds."""

    numbers: pd.DataFrame
    scale: str
    stand_ins: tuple[dict, ...]
    seeds: int

    def stand_ins_of(self, data: list[str]) -> list[dict]:
        """The stand-ins for the named data sets and checkpoints, or all of them when none is named."""
        return [entry for entry in self.stand_ins if not data or entry["dataset"] in data]

    def data_of(self, data: list[str]) -> str:
        """What the numbers rest on: the stand-ins for the named data sets, or nothing where the data are real."""
        return "; ".join(entry["label"] for entry in self.stand_ins_of(data))

    def waits_for(self, needs: str, data: list[str]) -> str:
        """What a fair judgement still needs of what `needs` asks for: real `data`, or the `paper`'s scale as well."""
        lacking = ["data"] if needs and self.stand_ins_of(data) else []
        lacking += ["scale"] if needs == "paper" and self.scale != PAPER else []
        return " and ".join(lacking)

    def kind_of(self, data: list[str]) -> str:
        return data_kind(self.scale, self.stand_ins_of(data))

    def at_laptop_scale(self, data: list[str], run: str) -> bool:
        """Whether the run is the laptop's and the data are real: then only their number and the scale are lacking."""
        return run == LAPTOP and self.scale in (LAPTOP, PAPER) and self.kind_of(data) != STAND_INS

    def declared(self, data: list[str]) -> bool:
        """Whether a stand-in declares other columns, so that rows named after the paper's columns are missing."""
        return any("features" in entry.get("declares", {}) for entry in self.stand_ins_of(data))


def read_result(folder: Path, item: Item) -> Result:
    """An item from its paper's result folder."""
    manifest = read_json(folder / Path(item.manifest).name)
    path = folder / Path(item.numbers).name
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return Result(check_tidy(table, path), manifest["scale"], tuple(manifest["stand_ins"]), len(manifest["seeds"]))


def check_tidy(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    if list(table.columns) != TIDY:
        raise UserError(f"{path} has the columns {', '.join(table.columns)}; it must have {', '.join(TIDY)}")
    return table


def read_results(manifests: list[str], items: Register) -> dict[tuple[str, str], Result]:
    """The results of these manifests (`<results>/<paper>/<item>.manifest.json`), by paper and item."""
    found = {}
    for path in map(Path, manifests):
        key = path.parent.name, path.name.removesuffix(".manifest.json")
        found[key] = read_result(path.parent, items[key])
    return found
