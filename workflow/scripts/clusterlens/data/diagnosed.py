"""What a diagnosis is made on, as the config names it: checked before any job starts."""

from pathlib import Path

from clusterlens.errors import UserError

KINDS = ("table", "image", "matrix")


def own_files(section: dict) -> list[str]:
    """The user's Python files: one name or a list of them."""
    return [section["own"]] if isinstance(section["own"], str) else list(section["own"])


def named_files(section: dict) -> list[str]:
    """Every file of the user's that the diagnosis reads."""
    data = section["data"]
    return [data[key] for key in (*KINDS, "mask") if data[key]] + own_files(section)


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
    if data["mask"] and not data["image"]:
        raise UserError("config key 'diagnose/data/mask': a mask goes with an image; give 'image' too")
    for key in ("columns", "label"):
        if data[key] and not data["table"]:
            raise UserError(f"config key 'diagnose/data/{key}': it goes with a table; give 'table' too")
    if data["label"] and data["label"] in data["columns"]:
        raise UserError(f"config key 'diagnose/data/columns': the label '{data['label']}' cannot be a feature too")
    for file in named_files(section):
        if not Path(file).is_file():
            raise UserError(f"config section 'diagnose': no file '{file}' here; paths start at the project's folder")
