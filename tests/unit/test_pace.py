"""The measurement of `make laptop`: what is trained, what is compared, what is remembered."""

import json

import pace
import pytest

from clusterlens.errors import UserError
from clusterlens.files import write_text
from clusterlens.pace import cores_of, place, remembered
from reference.configs import changed

TINY = {"embedding_dimension": 16, "depth": 1, "heads": 2, "time_steps": 2, "patch_size": 16}
SETTINGS = changed(("training/batch_size", 4), *((f"architecture/{key}", value) for key, value in TINY.items()))


@pytest.fixture
def overlay(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    chosen = {"architecture": TINY, "training": {"batch_size": 4}}
    write_text(tmp_path / "tiny.yaml", json.dumps(chosen))
    return str(tmp_path / "tiny.yaml")


@pytest.mark.usefixtures("one_thread")
def test_one_job_trains_and_counts_its_images(overlay, monkeypatch, capsys):
    monkeypatch.setattr(pace, "SECONDS", 0.05)
    pace.main([overlay, "--threads=1"])
    assert float(capsys.readouterr().out) > 0


@pytest.mark.parametrize(("apart", "together", "threads"), [(100.0, 60.0, 1), (60.0, 100.0, 2), (80.0, 80.0, 1)])
def test_the_faster_way_is_remembered_and_not_measured_again(overlay, monkeypatch, apart, together, threads):
    measured = []

    def speed(_, jobs: int, threads: int) -> float:
        measured.append((jobs, threads))
        return {(2, 1): apart, (1, 2): together}[jobs, threads]

    monkeypatch.setattr(pace, "side_by_side", speed)
    pace.main([overlay, "--cores=2"])
    pace.main([overlay, "--cores=2"])
    assert measured == [(2, 1), (1, 2)]
    assert remembered(SETTINGS, 2) == {"threads": threads, "images_per_second": max(apart, together)}


def test_one_core_leaves_nothing_to_compare(overlay, monkeypatch):
    measured = []
    monkeypatch.setattr(pace, "side_by_side", lambda *asked: measured.append(asked[1:]) or 50.0)
    pace.main([overlay, "--cores=1"])
    assert measured == [(1, 1)] and remembered(SETTINGS, 1) == {"threads": 1, "images_per_second": 50.0}


def test_a_measurement_that_fails_says_why_in_one_line(tmp_path):
    with pytest.raises(SystemExit, match=r"could not measure how fast this machine trains: \w+Error: .*$"):
        pace.side_by_side(str(tmp_path / "none.yaml"), 1, 1)


def test_a_cache_that_cannot_be_written_stops_nothing(overlay, monkeypatch, tmp_path, capsys):
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(pace, "side_by_side", lambda *_: 50.0)
    pace.main([overlay, "--cores=2"])
    assert "could not be saved" in capsys.readouterr().out and remembered(SETTINGS, 2) is None


@pytest.mark.parametrize(
    "found", ["{}", "[]", "3", '{"threads": 0, "images_per_second": 5}', '{"threads": 2', '{"threads": null}']
)
def test_a_damaged_measurement_counts_as_none(overlay, monkeypatch, found):
    monkeypatch.setattr(pace, "side_by_side", lambda *_: 50.0)
    pace.main([overlay, "--cores=2"])
    assert remembered(SETTINGS, 2)
    place(SETTINGS, 2).write_text(found)
    assert remembered(SETTINGS, 2) is None


@pytest.mark.parametrize("cores", ["two", "0", "-1", "1.5", ""])
def test_a_wrong_number_of_cores_is_refused_in_one_line(overlay, cores):
    with pytest.raises(UserError, match=r"is no number of cores; give CORES=<n>, 1 or more, or CORES=all$"):
        pace.main([overlay, f"--cores={cores}"])


def test_all_cores_are_those_that_this_process_may_use():
    from snakemake.utils import available_cpu_count

    assert cores_of("all") == available_cpu_count() and cores_of("3") == 3
