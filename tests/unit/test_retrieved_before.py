"""Raw data stay until their replacement is whole, and are taken again where the source cannot be reached."""

from pathlib import Path

import pytest

from clusterlens.data.registry import load, raw_files
from clusterlens.data.retrieve import retrieve
from clusterlens.errors import UserError
from clusterlens.files import write_json

NAME = "wikitext2"
ENTRY = load(Path(__file__).resolve().parents[2] / "config" / "datasets.yaml")[NAME]
SETTINGS = {"source": "hub", "files": {}}


@pytest.fixture
def retrieved(tmp_path, monkeypatch):
    """Facts and folder of a retrieval from a mirror; the hub must not be asked afterwards."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    mirror = tmp_path / "mirror" / ENTRY["mirror"]["folder"]
    mirror.mkdir(parents=True)
    for name in ENTRY["mirror"]["files"]:
        (mirror / name).write_text(f"the text of {name}\n")
    folder = tmp_path / NAME / "raw"
    return retrieve(NAME, ENTRY, SETTINGS, str(tmp_path / "mirror"), folder), folder


def content(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_a_forgotten_mirror_keeps_what_it_gave(retrieved, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    facts, folder = retrieved
    before = content(folder)
    assert retrieve(NAME, ENTRY, SETTINGS, None, folder) == facts
    assert facts["source"] == "mirror" and content(folder) == before
    assert "HF_HUB_OFFLINE is set" in caplog.text and "taking what was retrieved before, source: mirror" in caplog.text


@pytest.mark.parametrize("change", ["settings", "file"])
def test_anything_else_is_refused_and_removes_nothing(retrieved, change):
    _, folder = retrieved
    if change == "file":
        (folder / "train.txt").write_text("edited\n")
    before = content(folder)
    asked = SETTINGS | ({"source": "mirror"} if change == "settings" else {})
    with pytest.raises(UserError):
        retrieve(NAME, ENTRY, asked, None, folder)
    assert content(folder) == before


def test_raw_files_that_were_edited_are_not_prepared(retrieved):
    facts, folder = retrieved
    manifest = folder.with_name("raw.manifest.json")
    write_json(manifest, facts)
    assert [file.name for file in raw_files(manifest, ENTRY)] == ENTRY["mirror"]["files"]
    (folder / "valid.txt").write_text("edited\n")
    with pytest.raises(UserError, match=r"valid.txt is missing or not what was retrieved: delete .*raw.manifest.json"):
        raw_files(manifest, ENTRY)
