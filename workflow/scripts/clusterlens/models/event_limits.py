"""Up to which share of spikes going through them one by one beats the matrix product.

That depends on the size of the layer, the processor and the number of threads. It is measured when a layer is first
used, and remembered in the user's cache. A run keeps the limits it began with in its checkpoints: one that is resumed
takes the same path, whatever has been measured since.
"""

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import torch

from clusterlens.cache import cache_folders
from clusterlens.files import digest, read_json, write_json
from clusterlens.logs import log
from clusterlens.native import Library

SHARES = [n / 20 for n in range(1, 13)]
KNOWN: dict[str, float] = {}  # of the layers of this run


def limit(layer: str, kernels: Library, wins: Callable[[float], bool]) -> float:
    """The largest of SHARES at which the spikes win, or 0; `layer` names kind, size and precision."""
    if layer not in KNOWN:
        KNOWN[layer] = remembered(layer, kernels, wins)
    return KNOWN[layer]


def remembered(layer: str, kernels: Library, wins: Callable[[float], bool]) -> float:
    """From the user's cache, else measured and written there; while one process measures, others wait for it."""
    name = f"event-limits-{digest([kernels.key, torch.get_num_threads()])[:16]}.json"
    for folder in cache_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"{name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                found = read(folder / name)
                if layer not in found:
                    found[layer] = measured(wins)
                    log.info("%s: spikes are taken one by one up to a share of %.2f", layer, found[layer])
                    write_json(folder / name, found)
                return found[layer]
        except OSError as error:
            log.info("event limits are not remembered: %s", error)
    return measured(wins)


def read(path: Path) -> dict[str, float]:
    """What was remembered; nothing where the file is missing or damaged."""
    try:
        found = read_json(path)
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
    whole = isinstance(found, dict) and all(value in (0, *SHARES) for value in found.values())
    return found if whole else {}


def measured(wins: Callable[[float], bool]) -> float:
    """By bisection: more spikes never make going through them faster."""
    low, high = 0, len(SHARES)  # spikes win at the first `low` shares, and not from `high` on
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if wins(SHARES[middle]) else (low, middle)
    return SHARES[low - 1] if low else 0.0
