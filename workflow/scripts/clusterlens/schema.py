"""Values checked against closed JSON schemas, with one line that says what is wrong and what is allowed."""

from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from clusterlens.errors import UserError, nearest
from clusterlens.provenance import ROOT

SCHEMAS = ROOT / "workflow" / "schemas"


def read_yaml(file: Path):
    """With the parser in C where PyYAML has it: every start of Snakemake reads the schemas."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def registry_validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(read_yaml(SCHEMAS / "registry" / f"{schema}.schema.yaml"))


def checked(value: object, schema: str, name: str) -> None:
    """Refuse a value that the registry schema does not allow, with one line that names the file."""
    refuse(value, registry_validator(schema), name)


def refuse(value: object, validator: Draft202012Validator, name: str) -> None:
    """Raise the plainest error there is in `value`."""
    error = best_match(validator.iter_errors(value), key=plainest)
    if error is not None:
        raise UserError(name + explain(error))


def plainest(error: ValidationError) -> tuple:
    """Prefer an unknown key over anything else, then the outermost error."""
    return error.validator == "additionalProperties", -len(error.absolute_path)


def explain(error: ValidationError) -> str:
    """One schema error as one line: where, what is wrong, what is allowed."""
    place = "/".join(map(str, error.absolute_path))
    where = f" key '{place}'" if place else ""
    value, limit = error.instance, error.validator_value
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return f"{where}: unknown key '{unknown}': {nearest(unknown, known)}"
    says = {
        "required": lambda: f"key '{next(key for key in limit if key not in value)}' is missing",
        "type": lambda: f"{quoted(value)} is {article(value)}, but {names(limit)} is needed",
        "enum": lambda: f"{value!r} is not allowed: {nearest(str(value), map(str, limit))}",
        "const": lambda: f"{value!r} is not allowed: it must be {limit!r}",
        "minimum": lambda: f"{value!r} is too small: it must be at least {limit}",
        "maximum": lambda: f"{value!r} is too large: it must be at most {limit}",
        "exclusiveMinimum": lambda: f"{value!r} is too small: it must be greater than {limit}",
        "exclusiveMaximum": lambda: f"{value!r} is too large: it must be less than {limit}",
        "minItems": lambda: f"{len(value)} entries given, at least {limit} needed",
        "maxItems": lambda: f"{len(value)} entries given, at most {limit} allowed",
        "minProperties": lambda: f"{len(value)} keys given, at least {limit} needed",
        "maxProperties": lambda: f"{' and '.join(value)} are given, at most {limit} allowed",
        "minLength": lambda: f"{value!r} is too short",
        "multipleOf": lambda: f"{value!r} is not a multiple of {limit}",
        "uniqueItems": lambda: f"{value!r} names something twice",
        "pattern": lambda: (
            f"{value!r} does not have the form" + (f" {limit}" if len(limit) < 40 else " that is needed")
        ),
    }
    reason = says.get(error.validator, lambda: error.message.replace("\n", " "))()
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    return f"{where}: {reason}" + (f" ({description})" if description else "")


def article(value: object) -> str:
    kinds = {
        bool: "a truth value",
        str: "a text",
        int: "a whole number",
        float: "a number",
        list: "a list",
        dict: "a section",
    }
    return "nothing" if value is None else kinds.get(type(value), f"a {type(value).__name__}")


def quoted(value: object) -> str:
    """A value as it was written; a date as YAML reads it."""
    return repr(value) if value is None or isinstance(value, str | int | float | list | dict) else str(value)


def names(types: str | list[str]) -> str:
    words = {
        "object": "a section",
        "array": "a list",
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
    }
    words |= {"boolean": "true or false", "null": "null"}
    return " or ".join(words[kind] for kind in ([types] if isinstance(types, str) else types))
