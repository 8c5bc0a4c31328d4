"""One way to get a data set: the mirror first, then its own source, and one line when neither has it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from clusterlens.data import embedded, hub, kaggle, mirror, user_files
from clusterlens.data.download import Unreachable, download
from clusterlens.data.registry import damaged
from clusterlens.data.settings import named, named_on_hub
from clusterlens.errors import UserError
from clusterlens.files import digest, read_json, sha256, write_json
from clusterlens.logs import log
from clusterlens.provenance import OWN, REAL, stand_in

RECORD = "retrieved.json"  # beside the raw files: what was asked for and what came


def retrieve(name: str, entry: dict, settings: dict, root: str | None, folder: Path) -> dict:
    """Fill `folder` with the raw files of a data set and return the facts for its manifest.

    `root` is the mirror. A transfer that breaks off leaves what it has in `partial` beside the folder. What the folder
    holds stays until its replacement is whole, and is taken again where the source cannot be reached.
    """
    partial = folder.with_name("partial")
    asked = digest([entry, settings])
    try:
        with filling(folder) as raw:
            facts = gather(name, entry, settings, root, raw, partial)
            facts["files"] = {file.name: sha256(file) for file in sorted(raw.iterdir())}
    except UserError as error:
        begun = any(path.is_file() for path in partial.rglob("*"))
        if not (begun and isinstance(error, Unreachable)):  # only what an interruption leaves is of use to the next run
            shutil.rmtree(partial, ignore_errors=True)
        earlier = retrieved_before(folder, asked) if isinstance(error, Unreachable) else None
        if earlier is None:
            raise
        log.warning("%s; taking what was retrieved before, source: %s", error, earlier["source"])
        facts = earlier
    else:
        shutil.rmtree(partial, ignore_errors=True)
        write_json(folder.with_name(RECORD), {"asked": asked, "facts": facts})
    return {"dataset": name, "title": entry["title"], "licence": entry["licence"], **facts}


def retrieved_before(folder: Path, asked: str) -> dict | None:
    """The facts of an earlier retrieval of the same files by the same settings, if every file is still as it was."""
    record = folder.with_name(RECORD)
    known = read_json(record) if record.is_file() else {}
    same = known.get("asked") == asked and damaged(folder, known["facts"]["files"]) is None
    return known["facts"] if same else None


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A temporary folder that takes the name `folder` when the block ends well, and is removed when it does not."""
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def gather(name: str, entry: dict, settings: dict, root: str | None, raw: Path, partial: Path) -> dict:
    """Decide where the files come from; return source, revision and stand-ins."""
    source = settings["source"]
    if source == "embedded":
        return {"source": source, "revision": "none", "stand_ins": [embedded.write(name, entry, settings, raw)]}
    if named(settings):
        return {"source": source, "revision": "none", "stand_ins": [user_files.copy(name, entry, settings, raw)]}
    other = named_on_hub(settings)
    if other:
        other, _, revision = other.partition("@")
        mirrored = entry["mirror"] | {"folder": f"models/{other.replace('/', '--')}"}
        entry = entry | {"hub": {"id": other, "revision": revision or "main"}, "mirror": mirrored}
    kind = REAL if other in entry.get("smaller", []) else OWN
    stand_ins = [stand_in(name, f"{other} for {entry['title']}", kind)] if other else []
    lacking = mirror.lacking(Path(root), entry) if root else None
    if root and not lacking:
        mirror.copy(Path(root), entry, raw)
        return {"source": "mirror", "revision": "as mirrored", "stand_ins": stand_ins}
    try:
        if source not in FETCHERS:
            raise nothing_named(name, entry, settings)
        revision = FETCHERS[source](entry, settings, raw, partial)
    except UserError as error:
        raise type(error)(advice(entry, raw.parent, root, lacking, error)) from None
    return {"source": source, "revision": revision, "stand_ins": stand_ins}


def advice(entry: dict, data: Path, root: str | None, lacking: str | None, error: UserError) -> str:
    """One line: what is missing where, why its source did not give it, and how to get it; `data` is its folder."""
    said = f"{entry['title']}: "
    if root:
        said += f"the mirror {root} has no {lacking}, and "
    said += str(error)
    if not isinstance(error, Unreachable):
        return said
    place = f"{root or '<mirror>'}/{entry['mirror']['folder']}"
    then = "" if root else ", then set 'mirror: <mirror>' in the config"
    return (
        f"{said}; to get it, run 'snakemake --cores 1 {data}/manifest.json' with the same config where there is a"
        f" network and copy {data}/raw to {place}{then}"
    )


def fetch_torchvision(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """The archive that torchvision would download, from the same address and checked against the same MD5."""
    url, checksum = entry["torchvision"]["url"], entry["torchvision"]["checksum"]
    file = Path(urlsplit(url).path).name
    download(url, raw / file, partial=partial / f"{file}.part", checksum=checksum)
    return checksum


def nothing_named(name: str, entry: dict, settings: dict) -> UserError:
    """For sources that are not downloads: the mirror lacks it or is not set, or no file was named."""
    if settings["source"] == "mirror":
        return UserError(f"its source is the mirror alone: put it there, or set data/{name}/source otherwise")
    keys = " and ".join(f"data/{name}/files/{key}" for key in settings["files"])
    unpublished = "" if any(key in entry for key in ("hub", "kaggle", "torchvision")) else "it is not published: "
    there = ", ".join(f"{entry['mirror']['folder']}/{file}" for file in entry["mirror"]["files"])
    return UserError(
        f"{unpublished}set {keys} in the config to files of your own, put {there} into a mirror, or set"
        f" data/{name}/source to embedded for the labelled stand-in"
    )


FETCHERS = {"hub": hub.fetch, "torchvision": fetch_torchvision, "kaggle": kaggle.fetch}
