"""Files that cannot be read or written: one line that names the file, what is wrong with it and what to do."""

import errno
import os

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from test_job import smk  # noqa: F401

from clusterlens import job
from clusterlens.attention.tokens import from_image, from_matrix, from_table
from clusterlens.damage import explain
from clusterlens.data import diagnosed, settings
from clusterlens.data.checksums import read_sums
from clusterlens.data.download import broken_off
from clusterlens.data.formats import read_arrays, write_arrays
from clusterlens.data.pictures import prepare
from clusterlens.data.tables import read_table, select
from clusterlens.errors import UserError
from clusterlens.files import read_json, write_json


def refused(call, *args, **options) -> str:
    with pytest.raises(UserError) as refusal:
        call(*args, **options)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def cut(path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damaged(folder, kind: str):
    """A damaged file of this kind, and a reader that stumbles over it."""
    path = folder / f"input.{kind}"
    if kind == "json":
        write_json(path, {"seeds": [0, 1]})
        cut(path)
        return path, read_json
    if kind == "npz":
        write_arrays(path, {"x": np.arange(1000)})
        cut(path)
        return path, np.load
    path.write_text("")
    return path, pd.read_csv


@pytest.mark.parametrize(
    ("kind", "words"),
    [("csv", "the table is empty"), ("json", "not a whole json file"), ("npz", "not a whole npz file")],
)
def test_a_job_names_the_input_that_it_cannot_read(smk, tmp_path, capsys, kind, words):  # noqa: F811
    path, read = damaged(tmp_path, kind)
    smk.input.append(str(path))
    with pytest.raises(SystemExit):
        job.run(lambda smk: read(path), smk)
    errors = [line for line in capsys.readouterr().err.splitlines() if " ERROR " in line]
    assert len(errors) == 1 and f"{path}: {words}; restore it, or delete it" in errors[0]


def test_a_manifest_that_is_cut_short_is_named_after_the_work_too(smk, tmp_path, capsys):  # noqa: F811
    (tmp_path / "data.manifest.json").write_text('{"seeds": [')
    with pytest.raises(SystemExit):
        job.run(lambda smk: None, smk)
    assert "data.manifest.json: not a whole json file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "no permission"), (errno.EISDIR, "a folder, but a file")],
)
def test_a_job_says_what_the_disk_refuses(smk, capsys, code, words):  # noqa: F811
    def main(smk):
        raise OSError(code, os.strerror(code), "results/x.csv")

    with pytest.raises(SystemExit):
        job.run(main, smk)
    assert f"results/x.csv: {words}" in capsys.readouterr().err


def test_a_full_disk_is_known_from_other_libraries_words_and_is_not_the_servers_fault():
    assert "the disk is full" in str(explain(RuntimeError("write failed: No space left on device"), []))
    full = broken_off(OSError(errno.ENOSPC, "No space left on device"), "the transfer broke off")
    assert "the disk is full" in str(full)
    assert str(broken_off(ConnectionResetError(errno.ECONNRESET, "reset"), "it broke off")) == "it broke off"


def test_an_error_of_our_own_is_not_blamed_on_the_files(smk, capsys):  # noqa: F811
    with pytest.raises(SystemExit):
        job.run(lambda smk: 1 / 0, smk)
    assert "internal error in" in capsys.readouterr().err


def test_what_may_not_be_read_is_refused_when_the_config_is_read(tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    path.write_text("a\n1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    data = {"heart": {"source": "file", "files": {"table": str(path)}}}
    assert "may not be read" in refused(settings.check_data, data)
    section = {"data": dict.fromkeys([*diagnosed.FILES, *diagnosed.GOES_WITH, *diagnosed.KINDS]), "own": []}
    section["data"] |= {"table": str(path), "columns": []}
    assert "may not be read" in refused(diagnosed.check_diagnosis, section)


def test_a_cut_archive_of_the_users_is_refused(tmp_path):
    path, _ = damaged(tmp_path, "npz")
    assert "not a readable npz file (BadZipFile)" in refused(read_arrays, path, ("x",))


def test_sums_that_are_not_text_are_refused(tmp_path):
    (tmp_path / "SHA256SUMS").write_bytes(bytes(range(256)))
    assert "SHA256SUMS: not a text file" in refused(read_sums, tmp_path / "SHA256SUMS")


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_the_separator_of_a_table_is_named(tmp_path, sign, name):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{sign.join(row)}\n" for row in (["a", "b"], ["1,5", "2"], ["3", "4"])))
    assert f"its columns are separated by {name}" in refused(read_table, path)
    assert f"its columns are separated by {name}" in refused(from_matrix, str(path), limit=10)


def numbers(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.normal(size=30) for name in "abc"} | {"y": np.arange(30) % 2}).assign(**columns)


def test_one_bad_cell_does_not_drop_a_column(tmp_path):
    path, table = tmp_path / "t.csv", numbers(name="text").astype({"b": object})
    table.loc[4, "b"] = "n/a?"
    table.to_csv(path, index=False)
    assert "column 'b' is not numeric: 'n/a?' in line 6" in refused(from_table, str(path), [], "y", limit=100)
    assert "column 'b' is not numeric: 'n/a?' in line 6" in refused(select, read_table(path), ["a", "b"], "y", "t")
    assert from_table(str(path), ["a", "c"], "y", limit=100).x.shape == (30, 2)


def test_huge_and_complex_numbers_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    numbers(a=1e200).to_csv(path, index=False)
    assert "column 'a' has 1e+200, too large" in refused(from_table, str(path), ["a", "b"], None, limit=100)
    assert "column 'a' has 1e+200, too large" in refused(select, read_table(path), ["a", "b"], "y", "t")
    matrix = np.random.default_rng(0).normal(size=(20, 3))
    for values, words in (
        (matrix * 1e200, "too large to compute with"),
        (matrix + 1j, "holds complex128, but real numbers are needed"),
        (np.ones((20, 3)), "every token is the same"),
    ):
        np.save(tmp_path / "m.npy", values)
        assert words in refused(from_matrix, str(tmp_path / "m.npy"), limit=100)


def test_an_image_of_one_colour_is_not_worth_a_try(tmp_path):
    Image.new("RGB", (8, 8), (9, 9, 9)).save(tmp_path / "plain.png")
    assert "every pixel has the same colour" in refused(from_image, str(tmp_path / "plain.png"), None, limit=100)
    mask = np.zeros((8, 8), np.uint8)
    mask[:4] = 255
    Image.fromarray(mask).save(tmp_path / "mask.png")
    assert "every pixel has the same colour" in refused(prepare, tmp_path / "plain.png", tmp_path / "mask.png", 8)
