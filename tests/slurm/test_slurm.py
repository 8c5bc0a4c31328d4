"""The workflow on a real SLURM through profiles/slurm, undisturbed and through what clusters do to jobs."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from checkout import (
    ROOT,
    copy_checkout,
    let_training_pause,
    paused_training,
    start_snakemake,
    trained,
    training_process,
    training_processes,
    wait_for,
)
from cluster import Cluster, missing

OVERLAYS = ("config/mini.yaml", str(ROOT / "tests/workflow/tiny.yaml"), str(ROOT / "tests/slurm/overlay.yaml"))
# What this SLURM has not: accounts, a database of jobs, file systems that show files late, users who wait for hours.
PRIVATE = ("--slurm-no-account", "--slurm-status-command", "squeue", "--latency-wait", "5")
PRIVATE += ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
RUN = "results/mini/runs/vit/seed0"
TRAINING = f"{RUN}/metrics.csv"
OTHERS = ("results/mini/transformers/fig4.png", "results/mini/transformers/fig5.png", "results/mini/table1.csv")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    if reason := missing():
        pytest.skip(reason)
    with Cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


def start(folder: Path, *targets: str) -> subprocess.Popen:
    """The README's command in a checkout, its output in a file."""
    words = ("--workflow-profile", "profiles/slurm", "--configfile", *OVERLAYS, *PRIVATE, "--", *targets)
    with open(folder / "screen.txt", "w") as screen:
        return start_snakemake(*words, folder=folder, stdout=screen, stderr=screen)


def finish(started: subprocess.Popen, folder: Path) -> None:
    try:
        code = started.wait(600)
    finally:
        started.kill()
    assert code == 0, (folder / "screen.txt").read_text()[-4000:]


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory) -> Path:
    """A checkout after the README's commands: the data, then training, two simulations and a table."""
    folder = copy_checkout(tmp_path_factory.mktemp("undisturbed"))
    finish(start(folder, "data_only"), folder)
    finish(start(folder, TRAINING, *OTHERS), folder)
    return folder


def submitted(cluster: Cluster, folder: Path) -> dict[str, str]:
    """What SLURM knows of every job that was submitted from a folder, by its id."""
    found = cluster.run("scontrol", "show", "job").stdout.split("\n\n")
    return {re.search(r"JobId=(\d+)", text)[1]: text for text in found if f"WorkDir={folder}\n" in text}


def jobs_of(cluster: Cluster, folder: Path) -> dict[str, str]:
    """The same by the comment that names its rules."""
    return {re.search(r"Comment=(\S+)", text)[1]: text for text in submitted(cluster, folder).values()}


def test_training_gets_the_gpu_its_cores_and_memory_and_nothing_else_does(cluster, undisturbed):
    jobs = jobs_of(cluster, undisturbed)
    (training,) = [text for name, text in jobs.items() if "train_model" in name]
    for asked in ("TresPerJob=gres:gpu:1", "CPUs/Task=4", "MinMemoryNode=16000M", "TimeLimit=12:00:00"):
        assert asked in training
    assert [name for name, text in jobs.items() if "gpu" in text] == ["rule_train_model_wildcards_vit_0"]
    log = (undisturbed / "logs/mini/train_model/vit_seed0.log").read_text()
    assert "CUDA_VISIBLE_DEVICES=0" in log


def test_small_jobs_share_a_submission_and_downloads_and_tables_are_not_submitted(cluster, undisturbed):
    jobs = jobs_of(cluster, undisturbed)
    assert sum("simulate_particles" in name and "plot_particles" in name for name in jobs) == 1
    stand_ins = [name for name in jobs if "train_stand_in" in name]  # mini trains checkpoints that others download
    assert len(jobs) - len(stand_ins) == 3  # training, particles, counting parameters
    assert all((undisturbed / target).is_file() for target in OTHERS)


def requeue(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "requeue", job)
    start_at_once(cluster, job)


def lose_the_node(cluster: Cluster, job: str) -> None:
    node = cluster.run("sinfo", "-h", "-o", "%n").stdout.strip()
    cluster.crash_node(job)
    cluster.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    cluster.start_node()
    cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    start_at_once(cluster, job)


def start_at_once(cluster: Cluster, job: str) -> None:
    """A job that is put back into the queue otherwise waits there for two minutes."""
    wait_for(lambda: "JobState=PENDING" in cluster.run("scontrol", "show", "job", job).stdout, "a job put back")
    cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")


def reach_the_time_limit(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=1")


@pytest.mark.parametrize("fault", [requeue, lose_the_node, reach_the_time_limit])
def test_a_disturbed_job_resumes_and_ends_as_an_undisturbed_one(cluster, undisturbed, tmp_path, fault):
    folder = copy_checkout(tmp_path)
    let_training_pause(folder)
    started = start(folder, TRAINING)
    try:
        stopped = paused_training(folder)
        (job,) = submitted(cluster, folder)
        fault(cluster, job)
        wait_for(lambda: training_process(folder) != stopped, "the end of the stopped job")
        finish(started, folder)
    finally:
        started.kill()
    if fault is reach_the_time_limit:  # the second job has twice the time that the first had asked for
        limits = [re.search(r"TimeLimit=(\S+)", text)[1] for text in submitted(cluster, folder).values()]
        assert limits == ["00:01:00", "1-00:00:00"]
    assert trained(folder / RUN) == trained(undisturbed / RUN)
    assert "resuming" in (folder / "logs/mini/train_model/vit_seed0.log").read_text().lower()


def kill_in_mid_training(cluster: Cluster, folder: Path) -> tuple[int, str]:
    """Kill Snakemake and leave its SLURM job: the training process, which is stopped, and the id of the job."""
    let_training_pause(folder)
    started = start(folder, TRAINING)
    try:
        stopped = paused_training(folder)
    finally:
        started.kill()
        started.wait(60)
    (job,) = submitted(cluster, folder)
    assert "JobState=RUNNING" in submitted(cluster, folder)[job]
    return stopped, job


def training_jobs(folder: Path) -> set[str]:
    """The SLURM jobs whose training processes are there now; a process may have just split off another."""
    jobs = set()
    for process in training_processes(folder):
        with suppress(OSError):
            jobs.add(re.search(rb"SLURM_JOB_ID=(\d+)", Path(f"/proc/{process}/environ").read_bytes())[1].decode())
    return jobs


def test_a_job_that_outlives_its_snakemake_never_runs_twice_at_once(cluster, undisturbed, tmp_path):
    folder = copy_checkout(tmp_path)
    _, job = kill_in_mid_training(cluster, folder)
    again, seen = start(folder, TRAINING), {job}
    try:
        while again.poll() is None:
            now = training_jobs(folder)
            assert len(now) <= 1
            seen |= now
            time.sleep(0.05)
        finish(again, folder)
    finally:
        again.kill()
    first, second = submitted(cluster, folder)
    assert first == job and seen == {first, second}
    assert f"SLURM still has jobs of a Snakemake that is gone ({job}): cancelled" in (folder / "screen.txt").read_text()
    assert "resuming" in (folder / "logs/mini/train_model/vit_seed0.log").read_text().lower()
    assert trained(folder / RUN) == trained(undisturbed / RUN)


def test_a_job_that_finishes_without_its_snakemake_is_finished(cluster, undisturbed, tmp_path):
    folder = copy_checkout(tmp_path)
    stopped, job = kill_in_mid_training(cluster, folder)
    os.kill(stopped, signal.SIGCONT)
    wait_for(lambda: "JobState=COMPLETED" in submitted(cluster, folder)[job], "the end of the job")
    finish(start(folder, TRAINING), folder)
    assert [*submitted(cluster, folder)] == [job]
    assert trained(folder / RUN) == trained(undisturbed / RUN)
