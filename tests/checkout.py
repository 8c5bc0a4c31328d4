"""Ways to call the workflow as a user does, in this checkout or in a copy of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
FAKE_KEYS = {"KAGGLE_KEY": "kaggle-key-of-nobody", "HF_TOKEN": "hub-token-of-nobody"}
TIMES = ["seconds", "images_per_second"]


def start_snakemake(*words: str, folder: Path = ROOT, **options) -> subprocess.Popen:
    """Start the launcher with this interpreter; no network is needed, and none is used."""
    environment = {**os.environ, **FAKE_KEYS, "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(folder / "tools" / "launcher.py"), *words]
    return subprocess.Popen(command, cwd=folder, text=True, env=environment, **options)


def call_snakemake(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """Run the launcher and keep what it prints."""
    started = start_snakemake(*words, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with started:
        try:
            output, errors = started.communicate(timeout=1200)
        except BaseException:
            started.kill()
            raise
    return subprocess.CompletedProcess(started.args, started.returncode, output, errors)


class Cost(NamedTuple):
    """What a run of Snakemake took, its jobs included: seconds on the clock and of CPU, and the peak of one process."""

    wall: float
    cpu: float
    peak_mb: float


def measure_snakemake(*words: str, folder: Path = ROOT) -> Cost:
    """Run the launcher to its end and say what it took."""
    began = time.monotonic()
    started = start_snakemake(*words, folder=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    assert started.returncode == 0, f"failed: {' '.join(words)[:500]}"
    return Cost(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def tiny_jobs(count: int, folder: Path) -> list[str]:
    """Targets of as many jobs of the cheapest rule, a copy of a file under another name."""
    sources = folder / "results/mini/spiking"
    sources.mkdir(parents=True, exist_ok=True)
    names = [f"fig1_load{number}.csv" for number in range(count)]
    for name in names:
        (sources / name).write_text(name)
    return [f"results/mini/{name}" for name in names]


def copy_checkout(folder: Path) -> Path:
    """A copy of the tracked parts of the workflow, to run and edit freely."""
    leave_out = shutil.ignore_patterns("__pycache__", "results", "resources", "logs", ".*", "tests", "benchmarks")
    return Path(shutil.copytree(ROOT, folder / "clone", ignore=leave_out))


def trained(run: Path) -> tuple[str, bytes]:
    """What a training run left, but for its times."""
    metrics = pd.read_csv(run / "metrics.csv").drop(columns=TIMES)
    return metrics.to_csv(), (run / "weights.safetensors").read_bytes()


def wait_for(found, what: str, *, seconds: float = 180):
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)
    return value


def training_process(folder: Path) -> int | None:
    """The id of the job that trains in a checkout."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(bytes(folder)) and word.endswith(b"train_model.py") for word in words):
            return int(entry.parent.name)
    return None


def pause_training(folder: Path, run: str) -> int:
    """Stop the training process after its first checkpoint, so that what follows meets it in the middle."""
    wait_for(lambda: list((folder / "results/mini/checkpoints").rglob("epoch*.pt")), "a checkpoint")
    pid = wait_for(lambda: training_process(folder), "the training process")
    os.kill(pid, signal.SIGSTOP)
    assert not (folder / run / "weights.safetensors").exists()
    return pid
