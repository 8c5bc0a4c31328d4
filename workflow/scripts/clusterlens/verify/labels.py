"""The rows and columns that items provide, published/labels.yaml: what claims and published numbers may name."""

import re
from collections.abc import Iterable
from functools import cache

import pandas as pd

from clusterlens.errors import UserError, nearest
from clusterlens.items import PUBLISHED
from clusterlens.schema import read_yaml

PLACEHOLDERS = {"{n}": r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "{feature}": r"[^=]+"}
ROW_ARGUMENTS = ("row", "rows", "minus", "base")  # of checks; `prefix` stands for all rows that begin with it


@cache
def read_labels() -> dict[str, dict[str, dict[str, list[str]]]]:
    """By paper, item and row pattern: the columns."""
    return read_yaml(PUBLISHED / "labels.yaml")


@cache
def row_pattern(row: str) -> re.Pattern:
    for placeholder, meaning in PLACEHOLDERS.items():
        row = row.replace(placeholder, meaning)
    return re.compile(row)


def columns_of(paper: str, item: str, row: str) -> list[str]:
    """The columns that an item provides in a row of that name; empty where it has no such row."""
    rows = read_labels().get(paper, {}).get(item, {})
    return [column for pattern, columns in rows.items() if row_pattern(pattern).fullmatch(row) for column in columns]


def check_label(paper: str, item: str, row: str, column: str, who: str) -> None:
    """Refuse a label that labels.yaml does not list, in one line."""
    provided = columns_of(paper, item, row)
    if not provided:
        rows = read_labels().get(paper, {}).get(item, {})
        raise UserError(f"{who}: {paper}/{item} has no row '{row}': {nearest(row, rows)} (published/labels.yaml)")
    if column not in provided:
        raise UserError(f"{who}: row '{row}' of {paper}/{item} has no column '{column}': {nearest(column, provided)}")


def labels_read(claim: dict) -> list[tuple[str, str]]:
    """Rows and columns that a claim's check reads; one row stands for all that a prefix takes in."""
    args = claim.get("args", {})
    rows = [row for name in ROW_ARGUMENTS if name in args for row in as_list(args[name])]
    rows += [f"{args['prefix']}1"] if "prefix" in args else []
    columns = as_list(args.get("columns", args.get("column", [])))
    return [(row, column) for row in rows for column in columns]


def rows_of_prefix(rows: Iterable[str], prefix: str) -> list[str]:
    """The rows `<prefix><number>`, in the order of that number."""
    found = {row: re.fullmatch(re.escape(prefix) + r"([-+.\de]+)", row) for row in rows}
    places = {row: float(match[1]) for row, match in found.items() if match}
    return sorted(places, key=places.__getitem__)


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def unlisted(paper: str, item: str, numbers: pd.DataFrame) -> list[tuple[str, str]]:
    """The labels among an item's numbers that labels.yaml does not list."""
    pairs = zip(numbers["row"], numbers["column"], strict=True)
    return [(row, column) for row, column in pairs if column not in columns_of(paper, item, row)]
