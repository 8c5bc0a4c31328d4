"""The registry of data sets (config/datasets.yaml): where each comes from and which files it consists of."""

from pathlib import Path

from clusterlens.errors import UserError
from clusterlens.files import read_json, sha256
from clusterlens.schema import checked, read_yaml


def load(path: Path) -> dict[str, dict]:
    """Read and check the registry; an entry that the schema does not allow is named in one line."""
    registry = read_yaml(path)
    checked(registry, "datasets", path.name)
    return registry


def raw_names(entry: dict) -> list[list[str]]:
    """The files that a mirror's folder and `raw/` hold; each a list of names of which one is enough."""
    return [names.split("|") for names in entry["mirror"]["files"]]


def raw_folder(manifest: str | Path) -> Path:
    """The folder with a data set's raw files, beside its manifests."""
    return Path(manifest).with_name("raw")


def damaged(folder: Path, files: dict[str, str]) -> Path | None:
    """The first of these files (name and SHA-256) that is missing in the folder, or other than it was."""
    places = ((folder / name, recorded) for name, recorded in files.items())
    return next((file for file, recorded in places if not file.exists() or sha256(file) != recorded), None)


def checked_raw(manifest: str | Path) -> Path:
    """The folder with the raw files behind `raw.manifest.json`, each of them as it was retrieved."""
    folder = raw_folder(manifest)
    if file := damaged(folder, read_json(manifest)["files"]):
        raise UserError(f"{file} is missing or not what was retrieved: delete {manifest} and run again to retrieve it")
    return folder


def raw_files(manifest: str | Path, entry: dict) -> list[Path]:
    """The raw files behind that manifest, in the registry's order."""
    return find_raw(checked_raw(manifest), entry)


def find_raw(folder: Path, entry: dict) -> list[Path]:
    """The raw files of a data set in `folder`, in the registry's order; the first one missing is refused."""
    return [one_of(folder, names, entry["title"]) for names in raw_names(entry)]


def one_of(folder: Path, names: list[str], title: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{title}: no {' or '.join(names)} in {folder}; delete that folder and retrieve it again")
