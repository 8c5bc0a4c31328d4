"""What a job stumbled over when the fault is not its own: a disk, a permission, or an input that cannot be read."""

import errno
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

PLACES = {
    errno.ENOSPC: "the disk is full: free some space and run again",
    errno.EDQUOT: "the disk quota is used up: free some space and run again",
    errno.EACCES: "no permission: change that of the file or of its folder",
    errno.EPERM: "no permission: change that of the file or of its folder",
    errno.EROFS: "the disk cannot be written to: choose other folders in pathvars",
    errno.EISDIR: "a folder, but a file is needed",
    errno.EIO: "the disk does not answer: check it",
}


def explain(error: Exception, inputs: Iterable[str]) -> str | None:
    """One line on what is wrong around the job; None where nothing is, so that the job itself must be."""
    reason = PLACES.get(error.errno or 0) if isinstance(error, OSError) else None
    if reason is None and "No space left on device" in str(error):  # as libraries in other languages say it
        reason = PLACES[errno.ENOSPC]
    if reason is not None:
        file = getattr(error, "filename", None)
        return f"{file}: {reason}" if file else reason
    for path in map(Path, inputs):
        if words := damage(path):
            return f"{path}: {words}; restore it, or delete it so that the next run makes it again"
    return None


def damage(path: Path) -> str | None:
    """Why an input cannot be read, as far as its kind tells."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                archive.testzip()
        elif path.suffix == ".csv" and not path.read_text(encoding="utf-8").strip():
            return "the table is empty"
    except (ValueError, EOFError, zipfile.BadZipFile, NotImplementedError):
        return f"not a whole {path.suffix.removeprefix('.')} file"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None
