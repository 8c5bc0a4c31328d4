"""Archives read without unpacking: every member is checked first, and nothing is ever written where its name says."""

import tarfile
import zlib
from pathlib import Path, PurePosixPath

from clusterlens.errors import UserError


def read_members(archive: Path, names: list[str]) -> dict[str, bytes]:
    """The contents of the named members of a tar archive; an archive with any suspicious member is refused whole."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                check_member(member, archive)
                name = PurePosixPath(member.name).name
                if member.isfile() and name in names and (content := tar.extractfile(member)) is not None:
                    found[name] = content.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise UserError(f"{archive}: not a whole tar archive ({type(error).__name__}): retrieve it again") from None
    if missing := [name for name in names if name not in found]:
        raise UserError(f"{archive}: no member {missing[0]}: this is another archive than the one expected")
    return found


def check_member(member: tarfile.TarInfo, archive: Path) -> None:
    """Refuse paths that climb out, links and devices."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise UserError(
            f"{archive}: member '{ascii(member.name)[1:-1]}' climbs out of its folder: do not trust this archive"
        )
    if not (member.isfile() or member.isdir()):
        raise UserError(
            f"{archive}: member '{ascii(member.name)[1:-1]}' is a link or a device: do not trust this archive"
        )
