"""Ways to call the workflow as a user does, in this checkout or in a copy of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
TIMES = ["seconds", "images_per_second"]


def start_snakemake(*words: str, folder: Path = ROOT, **options) -> subprocess.Popen:
    """Start the launcher with this interpreter; no network is needed, and none is used."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
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


def copy_checkout(folder: Path) -> Path:
    """A copy of the tracked parts of the workflow, to run and edit freely."""
    leave_out = shutil.ignore_patterns("__pycache__", "results", "resources", "logs", ".*", "tests", "benchmarks")
    return Path(shutil.copytree(ROOT, folder / "clone", ignore=leave_out))


def trained(run: Path) -> tuple[str, bytes]:
    """What a training run left, but for its times."""
    metrics = pd.read_csv(run / "metrics.csv").drop(columns=TIMES)
    return metrics.to_csv(), (run / "weights.safetensors").read_bytes()
