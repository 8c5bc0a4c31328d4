"""What the papers print: the items, their numbers and their claims, read from published/ and checked on the way in."""

import csv
from functools import cache
from pathlib import Path

import pandas as pd
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from clusterlens.config import explain
from clusterlens.errors import UserError, nearest
from clusterlens.provenance import ROOT
from clusterlens.verify.checks import check_arguments
from clusterlens.verify.numbers import as_number

PUBLISHED = ROOT / "published"
SCHEMAS = ROOT / "workflow" / "schemas" / "registry"


def read_rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    """The rows of a file with a header, cells as texts."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter, restkey="(too many cells)", restval=""))


@cache
def validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(yaml.safe_load((SCHEMAS / f"{schema}.schema.yaml").read_text(encoding="utf-8")))


def checked(value: object, schema: str, name: str) -> None:
    """Refuse a value that the schema does not allow, with one line that names the file."""
    error = best_match(validator(schema).iter_errors(value))
    if error is not None:
        raise UserError(name + explain(error).removeprefix("config"))


def read_items(folder: Path = PUBLISHED) -> pd.DataFrame:
    """published/items.tsv: one row per table or figure."""
    rows = read_rows(folder / "items.tsv", "\t")
    for line, row in enumerate(rows, start=2):
        checked(row, "items", f"items.tsv line {line}")
    items = pd.DataFrame(rows)
    twice = items[items.duplicated(["paper", "item"])]
    if not twice.empty:
        raise UserError(f"items.tsv names {twice.iloc[0]['paper']}/{twice.iloc[0]['item']} twice")
    return items


def read_published(folder: Path = PUBLISHED) -> pd.DataFrame:
    """published/<paper>/<item>.csv of all papers: one row per printed number, all cells texts, `paper` in front."""
    known = {(row["paper"], row["item"]) for row in read_items(folder).to_dict("records")}
    rows = []
    for file in sorted(folder.glob("*/*.csv")):
        paper, name = file.parent.name, f"{file.parent.name}/{file.name}"
        for line, row in enumerate(read_rows(file, ","), start=2):
            checked(row, "published", f"{name} line {line}")
            if row["item"] != file.stem or (paper, row["item"]) not in known:
                raise UserError(f"{name} line {line}: item '{row['item']}' is not '{file.stem}' as in items.tsv")
            if (row["kind"] == "exact") != (row["tolerance"] == ""):
                raise UserError(f"{name} line {line}: kind abs and rel need a tolerance, and exact takes none")
            if row["kind"] != "exact" and as_number(row["value"]) is None:
                raise UserError(f"{name} line {line}: '{row['value']}' is no number, so its kind must be exact")
            rows.append({"paper": paper, **row})
    numbers = pd.DataFrame(rows)
    twice = numbers[numbers.duplicated(["paper", "item", "row", "column"])]
    if not twice.empty:
        first = twice.iloc[0]
        raise UserError(
            f"{first['paper']}/{first['item']}.csv gives row '{first['row']}', column '{first['column']}' twice"
        )
    return numbers


def read_claims(folder: Path = PUBLISHED) -> list[dict]:
    """published/claims.yaml, with every item and check known and every argument one that the check takes."""
    claims = yaml.safe_load((folder / "claims.yaml").read_text(encoding="utf-8"))
    checked(claims, "claims", "claims.yaml")
    items = read_items(folder)
    seen: set[str] = set()
    for claim in claims:
        name = claim["id"]
        if name in seen:
            raise UserError(f"claims.yaml names the claim {name} twice")
        seen.add(name)
        known = set(items.loc[items["paper"] == claim["paper"], "item"])
        if claim["item"] not in known:
            raise UserError(f"claim {name}: unknown item '{claim['item']}': {nearest(claim['item'], known)}")
        if "check" in claim:
            check_arguments(name, claim["check"], arguments(claim))
    return claims


def arguments(claim: dict) -> dict:
    """The keyword arguments of a claim's check, its tolerance among them."""
    return claim.get("args", {}) | ({"tolerance": claim["tolerance"]} if "tolerance" in claim else {})
