"""SLURM jobs that a killed Snakemake has left: cancelled where they make the same files, otherwise left alone."""

import os
from pathlib import Path

import pytest
import slurm_jobs

GONE, LIVING = {"host": "login", "pid": 1, "start": "1"}, {"host": "login", "pid": 2, "start": "2"}
FILES = {"weights", "metrics"}
# A queue is a file of lines `id name`. What is cancelled is seen for one look more, as jobs are that SLURM is ending.
SQUEUE = """#!/bin/sh
echo "$@" >> asked
test "$1" = --me || exit 1
cat queue
grep -v -w -f cancelled queue > rest; mv rest queue
"""
SCANCEL = """#!/bin/sh
for job; do echo "$job" >> cancelled; done
echo "scancel: error: job already completed" >&2; exit 1
"""


@pytest.fixture
def queue(monkeypatch, tmp_path) -> Path:
    """A folder with programs that pretend to be SLURM's."""
    for name, text in {"squeue": SQUEUE, "scancel": SCANCEL, "cancelled": "", "queue": "", "asked": ""}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(slurm_jobs, "PAUSE", 0.01)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def submit(folder: Path, job: str, process: dict, *files: str, prefix: str = "") -> None:
    with open("queue", "a") as lines:
        lines.write(f"{job} {prefix}{slurm_jobs.mark(folder, process)}_5a6e-uuid\n")
    if files:
        slurm_jobs.remember(folder, job, files)


def cancelled(folder: Path, *owners: dict) -> list[str]:
    some = slurm_jobs.end_survivors(folder, lambda: owners, FILES)
    found = sorted(Path("cancelled").read_text().split())
    assert some == bool(found)
    return found


def test_survivors_that_make_the_same_files_are_cancelled_and_waited_for(queue, capsys):
    submit(queue, "7", GONE, "weights")
    submit(queue, "8", GONE, "other", prefix="mine_")
    slurm_jobs.remember(queue, "8", ["metrics"])  # a group: two rules share the job
    assert cancelled(queue, LIVING) == ["7", "8"]
    assert Path("queue").read_text() == ""
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "clusterlens: SLURM still has jobs of a Snakemake that is gone (7, 8): cancelled, to be submitted again"
    )


def test_a_survivor_that_was_killed_before_its_files_were_noted_is_cancelled(queue):
    submit(queue, "7", GONE)
    assert cancelled(queue) == ["7"]


def test_what_others_run_is_left_alone(queue, capsys):
    """Another folder, a Snakemake that lives, files that this one does not touch, jobs that are no Snakemake's."""
    submit(queue / "elsewhere", "1", GONE)
    submit(queue, "2", LIVING, "weights")
    submit(queue, "3", GONE, "other")
    with open("queue", "a") as lines:
        lines.write("4 my own job\n")
    assert cancelled(queue, LIVING) == [] and capsys.readouterr().err == ""
    assert cancelled(queue) == ["2"]


def test_notes_on_jobs_that_have_ended_are_removed(queue):
    submit(queue, "3", GONE, "other")
    slurm_jobs.remember(queue, "2", ["weights"])
    cancelled(queue)
    assert [file.name for file in (queue / "slurm_jobs").iterdir()] == ["3"]


def test_a_job_that_does_not_end_stops_the_start(queue, monkeypatch):
    monkeypatch.setattr(slurm_jobs, "PATIENCE", 0.1)
    (queue / "scancel").write_text("#!/bin/sh\n")
    for job in range(10, 17):
        submit(queue, str(job), GONE, "weights")
    with pytest.raises(SystemExit) as stopped:
        cancelled(queue)
    assert str(stopped.value) == (
        "clusterlens: SLURM has not ended its jobs 10, 11, 12, 13, 14 and 2 more: run the same command "
        "again once 'squeue --me' no longer lists them"
    )


def test_lines_without_a_name_are_passed_over_and_arrays_are_listed_one_by_one(queue):
    submit(queue, "7_1", GONE, "weights")
    with open("queue", "a") as lines:
        lines.write("9\n")
    assert cancelled(queue) == ["7_1"]
    assert "--array" in Path("asked").read_text()


def test_a_record_written_while_the_queue_is_read_stays(queue, monkeypatch):
    read = slurm_jobs.queued

    def while_another_submits(folder: Path) -> dict[str, str]:
        found = read(folder)
        submit(queue, "11", LIVING, "other")
        return found

    monkeypatch.setattr(slurm_jobs, "queued", while_another_submits)
    assert cancelled(queue, LIVING) == []
    assert slurm_jobs.record(queue, "11").exists()


@pytest.mark.parametrize("answer", ["#!/bin/sh\necho first >&2; echo 'no controller' >&2; exit 1\n", None])
def test_a_queue_that_cannot_be_read_stops_the_start(queue, monkeypatch, answer):
    if answer:
        (queue / "squeue").write_text(answer)
    else:
        monkeypatch.setenv("PATH", str(queue / "nothing"))
    with pytest.raises(SystemExit) as stopped:
        cancelled(queue)
    assert ("no controller" if answer else "squeue") in str(stopped.value) and "\n" not in str(stopped.value)


@pytest.mark.parametrize("prefix", [None, "mine", "x" * 50])
def test_names_of_jobs_carry_the_mark_within_what_the_executor_allows(prefix, tmp_path):
    from snakemake_executor_plugin_slurm import ExecutorSettings

    settings = ExecutorSettings(jobname_prefix=prefix)
    slurm_jobs.name_jobs(settings, tmp_path, LIVING)
    assert settings.jobname_prefix.endswith(slurm_jobs.mark(tmp_path, LIVING)) and len(settings.jobname_prefix) <= 50
    assert settings.jobname_prefix.startswith((prefix or "clusterlens")[:4])
