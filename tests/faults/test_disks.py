"""Disks that are full or cannot be written to, and files that were cut short: one line each, then the same results."""

import os
import subprocess
from datetime import datetime, timedelta

import pytest
from conftest import TARGETS, mounted
from unit.test_download import SIZE, answer, files, get, serving

from clusterlens.damage import explain


@pytest.mark.parametrize("place", ["results/mini/runs", "results/mini/checkpoints"])
def test_a_disk_that_is_full_while_a_run_is_written(place, undisturbed, untrained):
    """A result and a checkpoint; the size leaves room for the first files only."""
    folder = untrained.folder / place
    with mounted(folder, "-t", "tmpfs", "-o", "size=16k", "tmpfs"):
        assert untrained.call() == 1
        (line,) = untrained.said
        assert line.endswith("the disk is full: free some space and run again")
        assert not [*folder.rglob(".*tmp*")] and not (untrained.run / "manifest.json").exists()
        subprocess.run(["mount", "-o", "remount,size=16m", str(folder)], check=True)
        untrained.finish()
        assert untrained.results() == undisturbed.results()


def test_a_disk_that_is_full_during_a_download(tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=256k", "tmpfs"), serving(answer) as server:
        with pytest.raises(OSError) as full:
            get(server, tmp_path / "disk")
        assert "the disk is full: free some space and run again" in explain(full.value, [])
        assert files(tmp_path / "disk") == ["file.bin.part"]
        subprocess.run(["mount", "-o", "remount,size=4m", str(tmp_path / "disk")], check=True)
        get(server, tmp_path / "disk")
        assert (tmp_path / "disk" / "file.bin").stat().st_size == SIZE


def test_results_that_cannot_be_written(undisturbed, untrained):
    results = untrained.folder / "results"
    with mounted(results, "--bind", str(results)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(results)], check=True)
        assert untrained.call() == 1
        (line,) = untrained.said
        assert line.endswith("the disk cannot be written to: choose other folders in pathvars")
    untrained.finish()
    assert untrained.results() == undisturbed.results()


def test_prepared_data_and_a_result_that_were_cut_short(undisturbed, finished):
    names = ("resources/mini/picture/picture.npz", "results/mini/emergence/data/boolean_matrix.npz")
    cut = [finished.folder / name for name in names]
    for file in cut:
        os.truncate(file, file.stat().st_size // 2)
    assert finished.call(*TARGETS[1:]) == 1
    said = sorted(finished.said)
    assert [line.split()[1] for line in said] == [*names]
    assert all("is not what its job wrote" in line and "delete it and make it again" in line for line in said)
    for file in cut:
        file.unlink()
    finished.finish(*TARGETS)
    assert finished.results() == undisturbed.results()


def test_a_clock_that_jumped_back(undisturbed, untrained):
    """Data from tomorrow: what is made from them today looks older than they are."""
    tomorrow = (datetime.now() + timedelta(days=1)).timestamp()
    for file in (untrained.folder / "resources").rglob("*"):
        os.utime(file, (tomorrow, tomorrow))
    untrained.finish(*TARGETS)
    assert untrained.results() == undisturbed.results()
    untrained.call(*TARGETS, words=("-n",))
    assert "Nothing to be done" in untrained.screen
