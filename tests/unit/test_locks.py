"""A lock whose owner is dead is removed; one whose owner lives, or may live, is explained in one line."""

import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import launcher
import pytest
import slurm_jobs
from snakemake.persistence.file import FilePersistence

HERE = socket.gethostname()


@pytest.fixture
def locks(monkeypatch, tmp_path):
    """Snakemake's locks of a folder for one output, as the launcher sets them."""
    for name in ("_read_locks", "lock", "started"):
        monkeypatch.setattr(FilePersistence, name, getattr(FilePersistence, name))  # to be restored
    launcher.name_owners(FilePersistence)
    monkeypatch.setattr(FilePersistence, "all_inputfiles", lambda self: ["in.csv"])
    monkeypatch.setattr(FilePersistence, "all_outputfiles", lambda self: ["out.csv"])
    return FilePersistence(path=tmp_path)


def leave_lock(locks, process: dict | None) -> None:
    """What a Snakemake that was killed leaves behind; `None` is one without the launcher."""
    first = [] if process is None else [launcher.OWNER + json.dumps(process)]
    locks._write_locks("output", [*first, "out.csv"])
    locks._lockfile.clear()


def refusal(locks) -> str:
    with pytest.raises(SystemExit) as stopped, locks.lock():
        pass
    assert "\n" not in str(stopped.value)
    return str(stopped.value)


@pytest.fixture
def ended() -> int:
    """The id of a process that has ended but was not waited for."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process.pid
    process.wait()


def test_a_lock_is_there_while_jobs_run_and_gone_afterwards(locks, tmp_path):
    with locks.lock():
        assert locks.locked and "process " + str(os.getpid()) in refusal(locks)
    assert not locks.locked and not [*tmp_path.rglob("*.lock")]


def test_the_lock_of_a_process_that_has_ended_is_removed_with_one_line(locks, ended, capsys):
    leave_lock(locks, {"host": HERE, "pid": ended, "start": "1"})
    assert not locks.locked, "a dry-run must not warn"
    with locks.lock():
        pass
    (line,) = capsys.readouterr().err.splitlines()
    assert f"process {ended}" in line and "its lock is removed" in line


def test_an_id_that_now_belongs_to_another_process_is_no_owner(locks):
    leave_lock(locks, {"host": HERE, "pid": os.getpid(), "start": "1"})
    with locks.lock():
        pass


def test_a_living_owner_is_named_with_the_way_to_stop_it(locks):
    leave_lock(locks, launcher.this_process())
    assert f"process {os.getpid()} on {HERE}" in refusal(locks) and f"kill -INT {os.getpid()}" in refusal(locks)


@pytest.mark.parametrize("process", [{"host": "elsewhere", "pid": 1, "start": "1"}, None])
def test_an_owner_that_cannot_be_seen_keeps_its_lock(locks, process, tmp_path):
    leave_lock(locks, process)
    assert "snakemake --unlock" in refusal(locks)
    assert [*tmp_path.rglob("*.lock")]


def test_runs_that_make_other_files_do_not_touch_each_others_locks(locks, monkeypatch):
    with locks.lock():
        monkeypatch.setattr(FilePersistence, "all_outputfiles", lambda self: ["other.csv"])
        other = FilePersistence(path=locks.path)
        with other.lock():
            pass
        monkeypatch.undo()
        assert len([*locks.path.rglob("*.lock")]) == 2


@pytest.mark.parametrize("executor", ["slurm", "local"])
def test_only_a_snakemake_that_submits_to_slurm_asks_for_its_jobs_and_marks_them(
    locks, executor, monkeypatch, tmp_path, ended
):
    gone = {"host": HERE, "pid": ended, "start": "1"}
    name = slurm_jobs.mark(tmp_path, gone)
    (tmp_path / "squeue").write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked; cat {tmp_path}/queue")
    (tmp_path / "scancel").write_text(f"#!/bin/sh\n: > {tmp_path}/queue")
    for program in ("squeue", "scancel"):
        (tmp_path / program).chmod(0o755)
    (tmp_path / "queue").write_text(f"7 {name}_uuid\n")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    settings = SimpleNamespace(jobname_prefix="")
    workflow = SimpleNamespace(executor_plugin=SimpleNamespace(name=executor), executor_settings=settings)
    leave_lock(locks, gone)
    locks.dag = SimpleNamespace(workflow=workflow)
    monkeypatch.setattr(FilePersistence, "_get_key", lambda self, file: file)
    on_slurm = executor == "slurm"
    if on_slurm:
        with pytest.raises(launcher.PlanAgain), locks.lock():
            pass
    with locks.lock():
        locks.started(SimpleNamespace(output=["out.csv"]), "8")
    assert (tmp_path / "asked").exists() == on_slurm
    assert (tmp_path / "queue").read_text() == ("" if on_slurm else f"7 {name}_uuid\n")
    assert settings.jobname_prefix == (slurm_jobs.mark(tmp_path, launcher.this_process()) if on_slurm else "")
    assert (tmp_path / "slurm_jobs" / "8").exists() == on_slurm
