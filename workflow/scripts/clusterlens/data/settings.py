"""The config's section `data`: which files the user has named, and what an embedded stand-in declares."""

import os
from pathlib import Path

from clusterlens.data.subsets import HELD_OUT
from clusterlens.errors import UserError

FOLDER = "folder"  # the key of a checkpoint; all others name files


def declare(data: dict[str, dict], shipped: dict[str, dict], datasets: dict[str, dict]) -> None:
    """Give data sets whose source is embedded the settings that their stand-in declares, such as its columns, in place.

    The paper's own values make way for them; any other value was meant, and is refused.
    """
    for name, settings in data.items():
        if settings["source"] != "embedded":
            continue
        for key, value in datasets[name].get("embedded", {}).get("declares", {}).items():
            if settings[key] not in (value, shipped[name][key]):
                raise UserError(
                    f"config key 'data/{name}/{key}': the embedded stand-in has {value}, not {settings[key]}; leave the"
                    f" key out, or choose another data/{name}/source"
                )
            settings[key] = value


def named(settings: dict) -> dict[str, str]:
    """The files that the user has named, if that is where the data come from."""
    if settings["source"] != "file":
        return {}
    return {key: path for key, path in settings["files"].items() if path is not None}


def named_on_hub(settings: dict) -> str | None:
    """Another checkpoint of the hub that the user has named in place of the published one."""
    return settings["files"].get(FOLDER) if settings["source"] == "hub" else None


def check_data(data: dict[str, dict]) -> None:
    """Refuse files that are not named, not there or not readable, and a table whose label is one of its features."""
    for name, settings in data.items():
        if settings["source"] == "file":
            check_named(name, settings["files"])
        label = settings.get("label", "")
        if label.casefold() in map(str.casefold, settings.get("features", [])):
            raise UserError(f"config key 'data/{name}/features': the label '{label}' cannot be a feature too")


def check_named(name: str, files: dict[str, str | None]) -> None:
    for key, path in files.items():
        place = f"config key 'data/{name}/files/{key}'"
        if path is None:
            raise UserError(f"{place}: not set, but data/{name}/source is file; name it, or choose another source")
        if not Path(path).exists():
            raise UserError(f"{place}: there is no '{path}' here")
        if Path(path).is_dir() != (key == FOLDER):
            found, wanted = ("file", "folder") if key == FOLDER else ("folder", "file")
            raise UserError(f"{place}: '{path}' is a {found}; name a {wanted}")
        if not os.access(path, os.R_OK):
            raise UserError(f"{place}: '{path}' may not be read; change its permissions")


def check_images(training: dict, entry: dict, source: str) -> None:
    """Refuse more images than there are, where their number is known beforehand."""
    known: dict = {"file": {}, "embedded": entry["embedded"]}.get(source, entry)
    counts = known.get("counts", {})
    evaluated = training["evaluate_on"]
    if evaluated == HELD_OUT and "train" in counts:
        counts = counts | {HELD_OUT: counts["train"] - training["train_images"]}
    for key, split in (("train_images", "train"), ("test_images", evaluated), ("correlation_images", evaluated)):
        asked, there = training[key], counts.get(split)
        if asked is not None and there is not None and asked > there:
            raise UserError(
                f"config key 'training/{key}': {asked:,} images are asked for, but the {split} split has {there:,};"
                " lower it"
            )
