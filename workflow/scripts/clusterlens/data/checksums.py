"""Checksums: what a file must be before it gets its final name."""

import hashlib
from pathlib import Path

from clusterlens.errors import UserError


def verify(path: Path, expected: str, name: str) -> None:
    """Compare a file with `md5:...` or `sha256:...`; `name` is how the message calls the file."""
    algorithm, _, wanted = expected.partition(":")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, algorithm).hexdigest()
    if found != wanted.lower():
        size = path.stat().st_size
        raise UserError(
            f"{name}: wrong {algorithm} checksum ({found} of {size:,} bytes, expected {wanted}): the file is damaged or"
            " not the one that was published; retrieve it again"
        )


def read_sums(path: Path) -> dict[str, str]:
    """A SHA256SUMS file, as `sha256sum` writes it, as a dict from relative path to `sha256:...`."""
    sums = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UserError(f"{path}: not a text file; write it with sha256sum") from None
    for number, line in enumerate(lines, 1):
        value, _, name = line.partition(" ")
        if not line.strip():
            continue
        if len(value) != 64 or not name.strip():
            raise UserError(f"{path}, line {number}: not of the form '<sha256>  <path>'; write it with sha256sum")
        sums[str(Path(name.strip().removeprefix("*")))] = f"sha256:{value}"
    return sums
