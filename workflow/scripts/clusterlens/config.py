"""The config, checked against closed schemas before any job starts, and documented from the same schemas.

`workflow/schemas/config.schema.yaml` holds the top-level keys; `<section>.schema.yaml` beside it holds each section.
Every key has a `role`, its own or that of the section around it: `experiment` (defines the experiment), `runs` (counts
runs), `read_out` (how results are read out), `source` (where data come from), `machine` (where and how it is computed).
"""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from clusterlens.contradictions import contradictions
from clusterlens.errors import UserError
from clusterlens.provenance import LAPTOP, PAPER
from clusterlens.schema import SCHEMAS, read_yaml, refuse
from clusterlens.values import inner, read_values, resolved

COUNTS = {"experiment", "read_out"}  # roles whose settings make a result another than the paper's


def load_schema(folder: Path = SCHEMAS) -> dict:
    """The whole config schema: the top level with every section's schema put in its place."""
    schema = read_yaml(folder / "config.schema.yaml")
    for file in sorted(folder.glob("*.schema.yaml")):
        section = file.name.removesuffix(".schema.yaml")
        if section != "config":
            schema["properties"][section] = read_yaml(file)
            schema["required"].append(section)
    return schema


def complete(config: dict, defaults: dict) -> None:
    """Add the defaults that a config lacks, in place."""
    for key, value in defaults.items():
        if key not in config:
            config[key] = deepcopy(value)
        elif isinstance(value, dict) and isinstance(config[key], dict):
            complete(config[key], value)


def check_config(config: dict, schema: dict, shipped: dict) -> None:
    """Refuse a config that the schema does not allow, or whose values do not fit each other, in one line."""
    read_values(config, schema)
    refuse(config, Draft202012Validator(schema), "config")
    for wrong in contradictions(config, shipped):
        raise UserError(f"config {wrong}")


class Settings:
    """A checked config with its schema, the shipped config of the papers, and the shipped one of the laptop's scale."""

    def __init__(self, config: dict, shipped: dict, schema: dict, laptop: dict | None = None):
        self.config, self.shipped, self.schema, self.laptop = config, shipped, schema, laptop or shipped

    def value(self, path: str, role: str | None = None) -> Any:
        """The setting or section at `path`; of a section only the keys with that role, if one is named."""
        found = at(self.config, path)
        if role is None:
            return found
        roles = {key.removeprefix(f"{path}/").split("/")[0] for key in self.keys(path) if role in self.roles(key)}
        return {key: entry for key, entry in found.items() if key in roles}

    def keys(self, path: str) -> list[str]:
        """The paths of all values at or below `path`, in the config or in the shipped one."""
        return list(dict.fromkeys([*leaves(at(self.config, path), path), *leaves(at(self.shipped, path), path)]))

    def roles(self, path: str) -> set[str]:
        """What a key is: its own annotation or that of the nearest section around it."""
        schema, found = self.schema, {self.schema["role"]}
        section: dict = {}
        for part in path.split("/"):
            schema = inner(schema, part, section)
            section = section or schema
            own = schema.get("role", found)
            found = {own} if isinstance(own, str) else set(own)
        return found

    def changed(self, path: str, role: str | None = None) -> Iterator[str]:
        """The settings of an experiment at or below the path that are not as shipped."""
        for key in self.keys(path):
            roles = self.roles(key)
            if roles & COUNTS and role in (None, *roles) and at(self.config, key) != at(self.shipped, key):
                yield key

    def scale(self, path: str, role: str | None = None) -> str:
        """`paper` where every setting of an experiment at or below the path is as shipped, else the config's label.

        That of the laptop is for its own settings only: anything else is `custom`.
        """
        changed, label = [*self.changed(path, role)], self.config["scale"]
        if not changed:
            return PAPER
        own = label != LAPTOP or all(at(self.config, key) == at(self.laptop, key) for key in changed)
        return label if label != PAPER and own else "custom"


def at(settings: Any, path: str) -> Any:
    """The value at a path such as `training/epochs`; None where there is none."""
    for part in path.split("/"):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


def leaves(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, f"{path}/{key}")
    else:
        yield path


def described(schema: dict, section: dict | None = None, prefix: str = "") -> Iterator[tuple[str, dict]]:
    """Every key that the schema describes, with its path, in the order written; those of any one item come once."""
    for name, entry in schema.get("properties", {}).items():
        path, entry = f"{prefix}{name}", resolved(entry, section or {})
        if "properties" in entry:
            yield from described(entry, section or entry, f"{path}/")
        else:
            yield path, entry
    if "item" in schema.get("$defs", {}):
        yield from described(schema["$defs"]["item"], schema, f"{prefix}<paper>/<item>/")


def document(config: dict, schema: dict) -> str:
    """The table of all keys for config/README.md, with the defaults of config.yaml."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for path, entry in described(schema):
        text, meaning = shown(at(config, path), path, entry), entry.get("description", "")
        if "enum" in entry:
            meaning += f" One of: {', '.join(map(str, entry['enum']))}."
        lines.append(f"| `{path}` | {text} | {meaning} |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def shown(value: object, path: str, entry: dict) -> str:
    """A default as YAML, but for items, whose settings are too long for a table."""
    if "<item>" in path or isinstance(entry.get("additionalProperties"), dict):
        return "in config.yaml"
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"
