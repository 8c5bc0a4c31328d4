"""The registry of data sets (config/datasets.yaml): where each comes from and which files it consists of."""

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from clusterlens.errors import UserError


def load(path: Path, schema: Path) -> dict[str, dict]:
    """Read and check the registry; an entry that the schema does not allow is named in one line."""
    registry = yaml.safe_load(path.read_text(encoding="utf-8"))
    validator = Draft202012Validator(yaml.safe_load(schema.read_text(encoding="utf-8")))
    if error := best_match(validator.iter_errors(registry)):
        place = "/".join(map(str, error.absolute_path)) or "top level"
        reason = " ".join(error.message.split())
        raise UserError(f"registry {path.name}, {place}: {reason}; allowed entries are in {schema.name}")
    return registry


def of_kind(registry: dict[str, dict], kind: str) -> list[str]:
    """The names of all data sets that one prepare rule reads."""
    return [name for name, entry in registry.items() if entry["kind"] == kind]


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
