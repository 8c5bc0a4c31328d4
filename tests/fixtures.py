"""The workflow as a user calls it, as fixtures."""

from pathlib import Path

import pytest
from checkout import FAKE_KEYS, call_snakemake, copy_checkout


@pytest.fixture(scope="session")
def snakemake():
    return call_snakemake


@pytest.fixture(scope="session")
def fake_keys() -> list[bytes]:
    """Secrets in the environment of every run."""
    return [key.encode() for key in FAKE_KEYS.values()]


@pytest.fixture(scope="session")
def make_checkout():
    return copy_checkout


@pytest.fixture
def checkout(tmp_path) -> Path:
    return copy_checkout(tmp_path)
