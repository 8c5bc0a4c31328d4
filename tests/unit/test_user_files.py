"""The user's own files in the place of published data: labelled, checked before any job, and nothing half-copied."""

import numpy as np
import pytest
from PIL import Image

from clusterlens.data.retrieve import retrieve
from clusterlens.data.settings import check_data
from clusterlens.errors import UserError
from reference.retrieval import HEART, REGISTRY, refused, settings


def test_own_table_is_labelled(tmp_path):
    (tmp_path / "mine.csv").write_text(HEART)
    chosen = settings("file", table=str(tmp_path / "mine.csv"))
    facts = retrieve("heart", REGISTRY["heart"], chosen, None, tmp_path / "raw")
    assert (tmp_path / "raw" / "heart.csv").read_text() == HEART
    label = "mine.csv for the heart disease table (Lapp 2019)"
    assert facts["stand_ins"] == [{"dataset": "heart", "label": label, "kind": "own files"}]


def test_own_text_picture_and_checkpoint(tmp_path):
    (tmp_path / "mine.txt").write_text("one document\n\nanother document\n")
    retrieve("c4", REGISTRY["c4"], settings("file", text=str(tmp_path / "mine.txt")), None, tmp_path / "c4")
    assert (tmp_path / "c4" / "c4.jsonl").read_text().count("document") == 2

    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / "p.jpg")
    Image.fromarray(np.eye(9, dtype=np.uint8) * 255).save(tmp_path / "m.png")
    chosen = settings("file", image=str(tmp_path / "p.jpg"), mask=str(tmp_path / "m.png"))
    facts = retrieve("picture", REGISTRY["picture"], chosen, None, tmp_path / "picture")
    assert sorted(facts["files"]) == ["mask.png", "picture.png"]

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    chosen = settings("file", folder=str(tmp_path / "model"))
    facts = retrieve("t5-large", REGISTRY["t5-large"], chosen, None, tmp_path / "t5")
    assert list(facts["files"]) == ["config.json"]


def test_own_file_that_is_broken_leaves_nothing(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    assert "the table is empty" in refused("heart", settings("file", table=str(tmp_path / "empty.csv")), None, tmp_path)
    (tmp_path / "not.png").write_text("no image")
    chosen = settings("file", image=str(tmp_path / "not.png"), mask=str(tmp_path / "not.png"))
    assert "not a readable image" in refused("picture", chosen, None, tmp_path)


def test_own_files_are_checked_before_any_job(tmp_path):
    with pytest.raises(UserError, match=r"data/heart/files/table'.*there is no"):
        check_data({"heart": settings("file", table=str(tmp_path / "gone.csv"))})
    (tmp_path / "p.png").touch()
    with pytest.raises(UserError, match="data/picture/files/mask': not set"):
        check_data({"picture": settings("file", image=str(tmp_path / "p.png"), mask=None)})
    check_data({"heart": settings("kaggle", table=str(tmp_path / "gone.csv"))})
