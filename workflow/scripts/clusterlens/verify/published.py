"""What the papers print: numbers and claims, read from published/ and checked on the way in."""

from pathlib import Path

import pandas as pd

from clusterlens.errors import UserError, nearest
from clusterlens.items import PUBLISHED, read_items, read_rows
from clusterlens.schema import checked, read_yaml
from clusterlens.verify.checks import check_arguments
from clusterlens.verify.labels import check_label, labels_read
from clusterlens.verify.numbers import as_number


def read_published(folder: Path = PUBLISHED) -> pd.DataFrame:
    """published/<paper>/<item>.csv of all papers: one row per printed number, all cells texts, `paper` in front."""
    known = read_items(folder).by_name
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
            check_label(paper, row["item"], row["row"], row["column"], f"{name} line {line}")
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
    """published/claims.yaml, with every item, check and label known and every argument one that the check takes."""
    claims = read_yaml(folder / "claims.yaml")
    checked(claims, "claims", "claims.yaml")
    items = read_items(folder)
    seen: set[str] = set()
    for claim in claims:
        name = claim["id"]
        if name in seen:
            raise UserError(f"claims.yaml names the claim {name} twice")
        seen.add(name)
        known = items.names(claim["paper"])
        if claim["item"] not in known:
            raise UserError(f"claim {name}: unknown item '{claim['item']}': {nearest(claim['item'], known)}")
        if "check" in claim:
            check_arguments(name, claim["check"], arguments(claim))
        for row, column in labels_read(claim):
            check_label(claim["paper"], claim["item"], row, column, f"claim {name}")
    return claims


def arguments(claim: dict) -> dict:
    """The keyword arguments of a claim's check, its tolerance among them."""
    return claim.get("args", {}) | ({"tolerance": claim["tolerance"]} if "tolerance" in claim else {})
