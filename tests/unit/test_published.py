"""What the papers print: complete, well-formed, and refused in one line when it is not."""

import shutil

import pytest
import yaml

from clusterlens.errors import UserError
from clusterlens.items import PUBLISHED, read_items
from clusterlens.verify.published import read_claims, read_published

DATASETS = set(yaml.safe_load((PUBLISHED.parent / "config" / "datasets.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def items():
    return read_items()


@pytest.fixture(scope="module")
def numbers():
    return read_published()


@pytest.fixture(scope="module")
def claims():
    return read_claims()


@pytest.fixture
def folder(tmp_path):
    """A copy of published/ to break."""
    return shutil.copytree(PUBLISHED, tmp_path / "published")


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_files_fit_the_kind(items):
    for item in items:
        assert len(set(item.extensions)) == len(item.extensions)
        if item.kind == "table":
            assert {"csv", "numbers.csv"} <= set(item.extensions), item.name
        elif item.kind == "figure":
            assert {"png", "pdf", "csv", "numbers.csv"} <= set(item.extensions), item.name
        else:
            assert "html" in item.extensions


def test_the_printed_tables_are_complete(numbers):
    counts = numbers.groupby(["paper", "item"]).size()
    expected = {"table1": 12, "table2": 24, "table3": 24, "table4": 20}
    assert {item: counts["spiking", item] for item in expected} == expected
    expected = {"table1": 14, "table2": 6, "table3": 14}
    assert {item: counts["attention_clusters", item] for item in expected} == expected


def test_data_sets_named_by_numbers_and_claims_exist(numbers, claims):
    named = {name for cell in numbers["data"] for name in cell.split()}
    named |= {name for claim in claims for name in claim.get("data", [])}
    assert named <= DATASETS


def test_claims_are_of_their_paper(claims):
    letters = {"spiking": "S", "transformers": "T", "emergence": "E", "attention_clusters": "A"}
    assert all(claim["id"].startswith(letters[claim["paper"]] + ".") for claim in claims)


def test_every_item_with_published_numbers_has_a_claim(numbers, claims):
    judged = {(claim["paper"], claim["item"]) for claim in claims}
    assert set(zip(numbers["paper"], numbers["item"], strict=True)) <= judged


def test_claims_on_numbers_that_need_the_paper_need_it_too(numbers, claims):
    for claim in claims:
        if claim.get("check") == "as_published":
            of_item = numbers[(numbers["paper"] == claim["paper"]) & (numbers["item"] == claim["item"])]
            if columns := claim.get("args", {}).get("columns"):
                of_item = of_item[of_item["column"].isin(columns)]
            needs = set(of_item["needs"]) - {""}
            assert needs <= {claim.get("needs", "")}, claim["id"]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("items.tsv", "\tbuilt\t", "\tdone\t", "items.tsv line .* key 'state'"),
        ("items.tsv", "paper\titem", "paper\tname", "unknown key 'name'|missing"),
        ("items.tsv", "spiking\ttable2", "spiking\ttable1", "spiking/table1 is named twice"),
        ("spiking/table1.csv", "exact", "about", "spiking/table1.csv line 2 key 'kind': 'about' is not allowed"),
        ("spiking/table1.csv", "table1,", "table9,", "item 'table9' is not 'table1'"),
        (
            "spiking/table1.csv",
            "ViT No MLP,Parameters",
            "Baseline ViT,Parameters",
            "row 'Baseline ViT', column 'Parameters' twice",
        ),
        ("spiking/table1.csv", "21.34M,,,exact", "21.34M,,0.1,exact", "exact takes none"),
        ("spiking/table4.csv", "AdamW,,,exact", "AdamW,,0.1,abs", "'AdamW' is no number"),
        ("claims.yaml", "check: as_published", "check: as_publishd", "did you mean 'as_published'"),
        ("claims.yaml", "item: table1\n", "item: tabel1\n", "did you mean 'table1'"),
        (
            "claims.yaml",
            "source: §5.3, Table 1",
            "sorce: §5.3, Table 1",
            "claims.yaml key '0': (unknown key 'sorce'|key 'source')",
        ),
        ("claims.yaml", "id: S.skip_is_free", "id: S.table1", "names the claim S.table1 twice"),
        ("claims.yaml", "  reason: printed to one decimal\n", "", "reason"),
        ("claims.yaml", "value: 0.06}", "valeu: 0.06}", "did you mean 'value'"),
        ("claims.yaml", "column: clusters", "column: clutsers", "has no column 'clutsers': did you mean 'clusters'"),
        ("claims.yaml", "row: identity t=12", "row: identiy t=12", "has no row 'identiy t=12'"),
        ("spiking/table1.csv", "Baseline ViT,FLOPs", "Baseline ViT,FLOP", "did you mean 'FLOPs'"),
    ],
)
def test_a_mistake_is_refused_in_one_line(folder, file, old, new, message):
    edit(folder / file, old, new)
    with pytest.raises(UserError, match=message) as refused:
        read_items(folder)
        read_published(folder)
        read_claims(folder)
    assert "\n" not in str(refused.value)
