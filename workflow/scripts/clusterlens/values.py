"""One pass over the config by its schema: texts become what the schema wants, and no number is out of bounds."""

import math
from contextlib import suppress

import yaml

from clusterlens.errors import UserError
from clusterlens.schema import article

LARGEST = 2**31 - 1  # of any number in size: random generators take no larger seeds, and no other setting needs more


def resolved(schema: dict, section: dict) -> dict:
    """A schema with its reference into `$defs` of the section followed; of `if`, the branch for sections."""
    while "$ref" in schema or "else" in schema:
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        behind = section["$defs"][name] if name else schema["else"]
        schema = behind | {key: value for key, value in schema.items() if key not in ("$ref", "if", "then", "else")}
    return schema


def inner(schema: dict, key: str, section: dict) -> dict:
    """The schema of one key below a schema; empty where it is not described."""
    found = resolved(schema, section).get("properties", {}).get(key)
    if found is None:
        found = resolved(schema, section).get("additionalProperties", {})
    return resolved(found, section) if isinstance(found, dict) else {}


def read_values(value: object, schema: dict, section: dict | None = None, place: str = "") -> object:
    """Values as the schema wants them, in place where `value` is a section or a list.

    Snakemake hands over everything inside `--config 'section={key: 1}'` as text, and YAML sees a text in 1e-3: where
    the schema wants no text, it is read. A whole number written as 2.0 becomes 2.
    """
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise UserError(f"config key '{place}': the name {key} is {article(key)}, not a text; put it in quotes")
            below = inner(schema, key, section or {})
            value[key] = read_values(entry, below, section or below, f"{place}/{key}" if place else key)
        return value
    if isinstance(value, list):
        below = resolved(schema.get("items", {}), section or {})
        value[:] = [read_values(entry, below, section, f"{place}/{index}") for index, entry in enumerate(value)]
        return value
    kinds = schema.get("type", "string")
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if isinstance(value, str) and ("string" not in kinds or (value == "null" and "null" in kinds)):
        value = read_text(value)
    return read_number(value, kinds, place) if isinstance(value, int | float) and "string" not in kinds else value


def read_text(text: str) -> object:
    """A number, truth value or null as YAML reads it, and 1e-3 as the number that YAML 1.1 does not see in it."""
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    with suppress(yaml.YAMLError, ValueError):
        found = yaml.safe_load(text)
        return found if found is None or isinstance(found, int | float) else text
    return text


def read_number(value: int | float, kinds: set[str], place: str) -> int | float:
    """A finite number within bounds; a whole one where the schema wants it whole."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"config key '{place}': {value} is not a number that can be computed with; give a finite one")
    if abs(value) > LARGEST:
        size = "large" if value > 0 else "small"
        raise UserError(f"config key '{place}': {value:.6g} is too {size}: numbers lie within ±{LARGEST}")
    whole = isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds
    return int(value) if whole else value
