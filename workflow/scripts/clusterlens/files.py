"""Files that are either whole or not there: temporary names, renames and digests."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that takes its name when the block ends well, and is removed otherwise.

    The sibling keeps the suffix, so that writers which choose a format by name (numpy, matplotlib) are not misled.
    """
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".{final.stem}.{os.getpid()}.tmp{final.suffix}")
    try:
        yield temporary
        os.replace(temporary, final)
    except OSError as error:
        error.filename = error.filename or str(final)  # a full disk does not say which file it has no room for
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that it holds, and the folder around it if nothing else is there."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


def write_text(path: str | os.PathLike, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike, value: object) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=True, default=str) + "\n")


def read_json(path: str | os.PathLike):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def digest(value: object) -> str:
    """SHA-256 of a JSON-able value, independent of the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def sha256(path: str | os.PathLike) -> str:
    """SHA-256 of a file, or of the sorted listing of a folder with the digest of each file.

    Snakemake puts a file of its own into a folder when the job that wrote it has ended; it does not count.
    """
    path = Path(path)
    if path.is_dir():
        members = sorted(one for one in path.rglob("*") if one.is_file() and one.name != ".snakemake_timestamp")
        return digest({str(member.relative_to(path)): sha256(member) for member in members})
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
