"""The registry of data sets (config/datasets.yaml): where each comes from and which files it consists of."""

from pathlib import Path

from clusterlens.errors import UserError
from clusterlens.schema import checked, read_yaml


def load(path: Path) -> dict[str, dict]:
    """Read and check the registry; an entry that the schema does not allow is named in one line."""
    registry = read_yaml(path)
    checked(registry, "datasets", path.name)
    return registry


def raw_names(entry: dict) -> list[list[str]]:
    """The files that a mirror's folder and `raw/` hold; each a list of names of which one is enough."""
    return [names.split("|") for names in entry["mirror"]["files"]]


def find_raw(folder: Path, entry: dict) -> list[Path]:
    """The raw files of a data set in `folder`, in the registry's order; the first one missing is refused."""
    return [one_of(folder, names, entry["title"]) for names in raw_names(entry)]


def one_of(folder: Path, names: list[str], title: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{title}: no {' or '.join(names)} in {folder}; delete that folder and retrieve it again")
