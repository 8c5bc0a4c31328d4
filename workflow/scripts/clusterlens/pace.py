"""How fast this machine trains, measured once by `make laptop` and remembered: threads per job, and time in advance."""

import json
from pathlib import Path

from clusterlens.cache import processor, usable_cores, user_cache
from clusterlens.errors import UserError
from clusterlens.files import digest, write_json


def cores_of(text: str) -> int:
    """As Snakemake reads `--cores`: a number, or `all` that this process may use."""
    if text == "all":
        return usable_cores()
    if not text.isdecimal() or int(text) == 0:
        raise UserError(f"'{text}' is no number of cores; give CORES=<n>, 1 or more, or CORES=all")
    return int(text)


def place(config: dict, cores: int) -> Path:
    """The file that remembers the pace of this machine with this model."""
    model = [config["architecture"], config["training"]["batch_size"]]
    folder = user_cache()
    if folder is None:
        raise FileNotFoundError("there is no home folder to keep it in")
    return folder / f"pace-{digest([processor(), cores, model])[:16]}.json"


def remembered(config: dict, cores: int) -> dict | None:
    """`threads` that a training job should take, and the `images_per_second` of all cores together."""
    try:
        found = json.loads(place(config, cores).read_text(encoding="utf-8"))
        return found if found["threads"] >= 1 and found["images_per_second"] > 0 else None
    except (OSError, ValueError, TypeError, LookupError):  # missing or damaged
        return None


def remember(config: dict, cores: int, found: dict) -> None:
    file = place(config, cores)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, found)
