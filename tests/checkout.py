"""Ways to call the workflow as a user does, in this checkout or in a copy of it."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
FAKE_KEYS = {"KAGGLE_KEY": "kaggle-key-of-nobody", "HF_TOKEN": "hub-token-of-nobody"}
TIMES = ["seconds", "images_per_second"]
PAUSE = """

import os, signal

save_without_pause = save


def save(folder, epoch, *rest):
    save_without_pause(folder, epoch, *rest)
    request = Path(__file__).with_name("pause")
    if epoch == 3 and request.exists():
        request.unlink()
        os.kill(os.getpid(), signal.SIGSTOP)
"""


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


def training_processes(folder: Path) -> list[int]:
    """The ids of the jobs that train in a checkout."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(bytes(folder)) and word.endswith(b"train_model.py") for word in words):
            found.append(int(entry.parent.name))
    return found


def training_process(folder: Path) -> int | None:
    """The id of the job that trains in a checkout."""
    return next(iter(training_processes(folder)), None)


def let_training_pause(folder: Path) -> None:
    """Edit a copy of the checkout: the next training job stops itself, once, after its third checkpoint.

    However fast it trains, what follows meets it in the middle.
    """
    module = folder / "workflow/scripts/clusterlens/training/checkpoints.py"
    module.with_name("pause").touch()
    module.write_text(module.read_text() + PAUSE)


def paused_training(folder: Path) -> int:
    """The id of the training job once it has stopped itself."""

    def stopped() -> int | None:
        for process in training_processes(folder):
            with suppress(OSError):
                if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                    return process
        return None

    return wait_for(stopped, "the training process to pause")
