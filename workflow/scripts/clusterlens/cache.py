"""What is kept from one run to the next for this machine alone, in the user's cache."""

import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path


def user_cache() -> Path | None:
    """The folder of this project in the user's cache; None for a user without a home."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return None if cache.startswith("~") else Path(cache) / "clusterlens"


def cache_folders() -> Iterator[Path]:
    """The user's cache and, where that cannot be used, a temporary folder of this process alone."""
    if lasting := user_cache():
        yield lasting
    with tempfile.TemporaryDirectory(prefix="clusterlens-") as folder:
        yield Path(folder)


def machine() -> str:
    """What `-march=native` depends on: a shared home may be used by processors of several kinds."""
    return platform.machine() + of_processor("flags", "Features")


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The name of the processor."""
    return of_processor("model name").partition(": ")[2] or platform.machine()


def of_processor(*names: str) -> str:
    """The first line that Linux has under one of these names."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return next((line for line in lines if line.startswith(names)), "")
