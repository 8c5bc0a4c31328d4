"""Ways to call the workflow as a user does, in this checkout or in a copy of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def call_snakemake(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """Run the launcher with this interpreter; no network is needed, and none is used."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(folder / "tools" / "launcher.py"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=1200)


def copy_checkout(folder: Path) -> Path:
    """A copy of the tracked parts of the workflow, to run and edit freely."""
    leave_out = shutil.ignore_patterns("__pycache__", "results", "resources", "logs", ".*", "tests", "benchmarks")
    return Path(shutil.copytree(ROOT, folder / "clone", ignore=leave_out))


@pytest.fixture(scope="session")
def snakemake():
    return call_snakemake


@pytest.fixture(scope="session")
def make_checkout():
    return copy_checkout


@pytest.fixture
def checkout(tmp_path) -> Path:
    return copy_checkout(tmp_path)
