"""The config, checked against closed schemas before any job starts, and documented from the same schemas.

`workflow/schemas/config.schema.yaml` holds the top-level keys; `<section>.schema.yaml` beside it holds each section.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from clusterlens.errors import UserError, nearest


def read_yaml(file: Path) -> dict:
    """With the parser in C where PyYAML has it: every start of Snakemake reads the schemas."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def load_schema(folder: Path) -> dict:
    """The whole config schema: the top level with every section's schema put in its place."""
    schema = read_yaml(folder / "config.schema.yaml")
    for file in sorted(folder.glob("*.schema.yaml")):
        section = file.name.removesuffix(".schema.yaml")
        if section != "config":
            schema["properties"][section] = read_yaml(file)
            schema["required"].append(section)
    return schema


def check_config(config: dict, folder: Path) -> None:
    """Refuse a config that the schemas do not allow, or whose values do not fit each other, in one line."""
    schema = load_schema(folder)
    read_texts(config, schema)
    error = best_match(Draft202012Validator(schema).iter_errors(config), key=plainest)
    if error is not None:
        raise UserError(explain(error))
    for wrong in conflicts(config):
        raise UserError(f"config {wrong}")


def read_texts(value: object, schema: dict) -> object:
    """Read numbers, truth values and nulls that arrived as texts, in place where `value` is a section or a list.

    Snakemake hands over everything inside `--config 'section={key: 1}'` as text; where the schema wants no text, it is
    read as YAML, and stays as it is when it cannot be read so.
    """
    if isinstance(value, dict):
        for key, entry in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            value[key] = read_texts(entry, inner if isinstance(inner, dict) else {})
    elif isinstance(value, list):
        value[:] = [read_texts(entry, schema.get("items", {})) for entry in value]
    elif isinstance(value, str):
        types = schema.get("type", "string")
        types = [types] if isinstance(types, str) else types
        if "string" not in types or (value == "null" and "null" in types):
            return read_text(value)
    return value


def read_text(text: str) -> object:
    """A text as YAML reads it, and 1e-3 as the number that YAML 1.1 does not see in it."""
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    with suppress(yaml.YAMLError):
        return yaml.safe_load(text)
    return text


def conflicts(config: dict) -> Iterator[str]:
    """What no schema can see: values that do not fit each other, or a folder that is not there."""
    mirror, image, text = config["mirror"], config["architecture"], config["language_model"]
    if mirror is not None and not Path(mirror).is_dir():
        yield f"key 'mirror': no folder '{mirror}' here; give an existing folder or null"
    for section, width, heads in (
        ("architecture", image["embedding_dimension"], image["heads"]),
        ("language_model", text["hidden_dimension"], text["attention_heads"]),
    ):
        if width % heads:
            yield f"section '{section}': {heads} heads do not divide the width {width}; choose a divisor of {width}"
    side, patch = image["image_size"], image["patch_size"]
    if side % patch:
        yield f"section 'architecture': patches of {patch} do not tile an image of {side} pixels; choose a divisor"


EXPERIMENTS = ("architecture", "training", "language_model", "probing", "simulations", "attention")
FREE = {"seeds", "gpus", "frames", "dtype"}  # may differ from the paper's without making another experiment of it


def scale_of(config: dict, shipped: dict) -> str:
    """The label of results: `paper` only where every experiment is set as shipped, else `custom`; mini stays mini."""
    if config["scale"] != "paper":
        return config["scale"]
    same = all(experiment(config[section]) == experiment(shipped[section]) for section in EXPERIMENTS)
    return "paper" if same else "custom"


def experiment(settings: object) -> object:
    """Settings without the keys that do not define the experiment."""
    if not isinstance(settings, dict):
        return settings
    return {key: experiment(value) for key, value in settings.items() if key not in FREE}


def plainest(error: ValidationError) -> tuple:
    """Prefer an unknown key over anything else, then the outermost error."""
    return error.validator == "additionalProperties", -len(error.absolute_path)


def explain(error: ValidationError) -> str:
    """One schema error as one line: where, what is wrong, what is allowed."""
    place = "/".join(map(str, error.absolute_path))
    where = f"config key '{place}'" if place else "config"
    value, limit = error.instance, error.validator_value
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return f"{where}: unknown key '{unknown}': {nearest(unknown, known)}"
    says = {
        "required": lambda: f"key '{next(key for key in limit if key not in value)}' is missing",
        "type": lambda: f"{value!r} is {article(value)}, but {names(limit)} is needed",
        "enum": lambda: f"{value!r} is not allowed: {nearest(str(value), map(str, limit))}",
        "const": lambda: f"{value!r} is not allowed: it must be {limit!r}",
        "minimum": lambda: f"{value!r} is too small: it must be at least {limit}",
        "maximum": lambda: f"{value!r} is too large: it must be at most {limit}",
        "exclusiveMinimum": lambda: f"{value!r} is too small: it must be greater than {limit}",
        "exclusiveMaximum": lambda: f"{value!r} is too large: it must be less than {limit}",
        "minItems": lambda: f"{len(value)} entries given, at least {limit} needed",
        "maxItems": lambda: f"{len(value)} entries given, at most {limit} allowed",
        "uniqueItems": lambda: f"{value!r} names something twice",
        "pattern": lambda: f"{value!r} does not have the form {limit}",
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
    return "nothing" if value is None else kinds[type(value)]


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


def keys(schema: dict, prefix: str = "") -> Iterator[tuple[str, dict]]:
    """Every leaf key of a schema with its path, in the order written."""
    for name, entry in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        if "properties" in entry:
            yield from keys(entry, f"{path}/")
        else:
            yield path, entry


def document(folder: Path) -> str:
    """The table of all keys for config/README.md."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for path, entry in keys(load_schema(folder)):
        default = (
            yaml.safe_dump(entry.get("default"), default_flow_style=True, width=10_000).removesuffix("...\n").strip()
        )
        meaning = entry.get("description", "")
        if "enum" in entry:
            meaning += f" One of: {', '.join(map(str, entry['enum']))}."
        lines.append(f"| `{path}` | `{default}` | {meaning} |".replace("\n", " "))
    return "\n".join(lines) + "\n"
