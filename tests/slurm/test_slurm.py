"""The workflow on a real SLURM through profiles/slurm, undisturbed and through what clusters do to jobs."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT, copy_checkout, pause_training, start_snakemake, trained, training_process, wait_for
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
    """A checkout after training, two simulations and a table."""
    folder = copy_checkout(tmp_path_factory.mktemp("undisturbed"))
    finish(start(folder, TRAINING, *OTHERS), folder)
    return folder


def jobs_of(cluster: Cluster, folder: Path) -> dict[str, str]:
    """What SLURM knows of every job that was submitted from a folder, by the comment that names its rules."""
    found = cluster.run("scontrol", "show", "job").stdout.split("\n\n")
    mine = [text for text in found if f"WorkDir={folder}\n" in text]
    return {re.search(r"Comment=(\S+)", text)[1]: text for text in mine}


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
    assert len(jobs) == 3  # training, particles, counting parameters
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
    started = start(folder, TRAINING)
    try:
        stopped = pause_training(folder, RUN)
        (job,) = [re.search(r"JobId=(\d+)", text)[1] for text in jobs_of(cluster, folder).values()]
        fault(cluster, job)
        wait_for(lambda: training_process(folder) != stopped, "the end of the stopped job")
        finish(started, folder)
    finally:
        started.kill()
    assert trained(folder / RUN) == trained(undisturbed / RUN)
    assert "resuming" in (folder / "logs/mini/train_model/vit_seed0.log").read_text().lower()
