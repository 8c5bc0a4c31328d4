"""Mirrors: a folder with every data set below its own name, laid out as config/README.md documents."""

import shutil
from pathlib import Path

from clusterlens.data.checksums import read_sums, verify
from clusterlens.data.registry import find_raw, raw_names
from clusterlens.errors import UserError
from clusterlens.logs import log

SUMS = "SHA256SUMS"


def lacking(root: Path, entry: dict) -> str | None:
    """The first path, below the mirror's root, that the data set needs and the mirror does not have."""
    if not root.is_dir():
        raise UserError(f"mirror: no folder '{root}' here; set 'mirror' to an existing folder or to null")
    folder = entry["mirror"]["folder"]
    for names in raw_names(entry):
        if not any((root / folder / name).is_file() for name in names):
            return f"{folder}/{names[0]}"
    return None


def copy(root: Path, entry: dict, raw: Path) -> None:
    """Copy a data set's files into `raw`, each verified against the mirror's SHA256SUMS where that lists it."""
    sums = read_sums(root / SUMS) if (root / SUMS).is_file() else {}
    folder = root / entry["mirror"]["folder"]
    files = find_raw(folder, entry)
    if entry["kind"] == "checkpoint":
        files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    for file in files:
        place = file.relative_to(root).as_posix()
        log.info("copying %s (%.1f MB) from the mirror", place, file.stat().st_size / 1e6)
        shutil.copyfile(file, raw / file.name)
        if place in sums:
            verify(raw / file.name, sums[place], f"{root / SUMS} and {place}")
        else:
            log.warning("%s is not listed in the mirror's %s: taken unverified", place, SUMS)
