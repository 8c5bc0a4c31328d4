"""What a diagnosis is made on, as the config names it: checked before any job starts."""

import os
from pathlib import Path

from clusterlens.errors import UserError

KINDS = ("table", "image", "matrix", "checkpoint")
FILES = ("table", "image", "matrix", "mask", "text")
GOES_WITH = {
    "mask": "image",
    "columns": "table",
    "label": "table",
    "text": "checkpoint",
    "layer": "checkpoint",
    "tokenizer": "checkpoint",
}


def own_files(section: dict) -> list[str]:
    """The user's Python files: one name or a list of them."""
    return [section["own"]] if isinstance(section["own"], str) else list(section["own"])


def named_files(section: dict) -> list[str]:
    """Every file of the user's that the diagnosis reads."""
    data = section["data"]
    return [data[key] for key in FILES if data[key]] + own_files(section)


def checkpoint_files(section: dict) -> list[str]:
    """The files of a checkpoint folder, so that a new checkpoint in it is diagnosed again; none for a hub id."""
    folder = section["data"]["checkpoint"]
    if not folder or not Path(folder).expanduser().is_dir():
        return []
    return sorted(str(file) for file in Path(folder).expanduser().iterdir() if file.is_file())


def uses_example(section: dict) -> bool:
    return not any(section["data"][kind] for kind in KINDS)


def check_diagnosis(section: dict) -> None:
    """Refuse files that are not there and settings that do not go together, in one line."""
    data = section["data"]
    given = [kind for kind in KINDS if data[kind]]
    if len(given) > 1:
        raise UserError(
            f"config key 'diagnose/data': {' and '.join(given)} are given, but one of them is the data: keep one"
        )
    for key, kind in GOES_WITH.items():
        if data[key] not in (None, []) and not data[kind]:
            article = "an" if kind == "image" else "a"
            raise UserError(f"config key 'diagnose/data/{key}': it goes with {article} {kind}; give '{kind}' too")
    if data["checkpoint"] and not data["text"]:
        raise UserError(
            "config key 'diagnose/data/text': a checkpoint needs a text to read; name a .txt or .jsonl file"
        )
    if data["label"] and data["label"].casefold() in map(str.casefold, data["columns"]):
        raise UserError(f"config key 'diagnose/data/columns': the label '{data['label']}' cannot be a feature too")
    for file in named_files(section):
        if not Path(file).is_file():
            raise UserError(f"config section 'diagnose': no file '{file}' here; paths start at the project's folder")
        if not os.access(file, os.R_OK):
            raise UserError(f"config section 'diagnose': '{file}' may not be read; change its permissions")
