"""Under the paper config the rendered tables equal the printed ones."""

import csv
from pathlib import Path

import pytest
import yaml

from clusterlens.figures.configuration import TABLES, plain

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


@pytest.mark.parametrize(("paper", "item"), TABLES)
def test_table_equals_the_printed_one(paper, item):
    sections = ("architecture", "training") if paper == "spiking" else ("language_model",)
    table = TABLES[paper, item](**{section: CONFIG[section] for section in sections})
    ours = {(row.iloc[0], column): row[column] for _, row in table.iterrows() for column in table.columns[1:]}
    with (ROOT / "published" / paper / f"{item}.csv").open(encoding="utf-8") as stream:
        printed = {(row["row"], row["column"]): row["value"] for row in csv.DictReader(stream)}
    assert ours == printed


@pytest.mark.parametrize(
    ("value", "text"),
    [(5e-4, "5e-4"), (6e-2, "6e-2"), (0.1, "0.1"), (1.0, "1.0"), (0.0, "0.0"), (83, "83"), (2e-6, "2e-6")],
)
def test_numbers_are_written_as_printed(value, text):
    assert plain(value) == text
