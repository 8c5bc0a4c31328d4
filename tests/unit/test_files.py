"""Files are whole or absent."""

import hashlib

import pytest

from clusterlens.files import digest, replacing, sha256, write_text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "table.csv"
    write_text(target, "old")
    with pytest.raises(ValueError), replacing(target) as temporary:
        temporary.write_text("half")
        raise ValueError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_temporary_name_keeps_the_suffix(tmp_path):
    with replacing(tmp_path / "new" / "points.npz") as temporary:
        assert temporary.suffix == ".npz"
        temporary.write_bytes(b"1")
    assert (tmp_path / "new" / "points.npz").read_bytes() == b"1"


def test_digest_ignores_the_order_of_keys_but_not_values():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


def test_sha256_of_a_folder_sees_names_and_contents(tmp_path):
    (tmp_path / "x").write_text("1")
    before = sha256(tmp_path)
    assert sha256(tmp_path / "x") == hashlib.sha256(b"1").hexdigest()
    (tmp_path / "x").rename(tmp_path / "y")
    renamed = sha256(tmp_path)
    (tmp_path / "y").write_text("2")
    assert len({before, renamed, sha256(tmp_path)}) == 3


def test_sha256_of_a_folder_does_not_see_what_snakemake_adds(tmp_path):
    (tmp_path / "x").write_text("1")
    before = sha256(tmp_path)
    (tmp_path / ".snakemake_timestamp").touch()
    assert sha256(tmp_path) == before
