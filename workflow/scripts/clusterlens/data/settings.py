"""The config's section `data`: which settings a retrieval depends on, and which files the user has named."""

from pathlib import Path

from clusterlens.errors import UserError

# Beside `source` and `files`: the settings that decide what is retrieved, and not only how it is prepared.
RETRIEVAL_SETTINGS = {"documents": ("documents", "min_words"), "labelled_text": ("seed",), "picture": ("size",)}


def retrieval_settings(entry: dict, settings: dict) -> dict:
    """What a retrieval depends on, so that changing the rest of the settings does not download anything again."""
    keys = ("source", "files", *RETRIEVAL_SETTINGS.get(entry["kind"], ()))
    return {key: settings[key] for key in keys}


def named(settings: dict) -> dict[str, str]:
    """The files that the user has named, if that is where the data come from."""
    if settings["source"] != "file":
        return {}
    return {key: path for key, path in settings["files"].items() if path is not None}


def check_named(data: dict[str, dict]) -> None:
    """Refuse a config that names a file which is not there, or only some of the files that belong together."""
    for name, settings in data.items():
        files = named(settings)
        for key, path in files.items():
            if not Path(path).exists():
                raise UserError(f"config key 'data/{name}/files/{key}': there is no '{path}' here")
        if files and (missing := [key for key in settings["files"] if key not in files]):
            raise UserError(
                f"config key 'data/{name}/files/{missing[0]}': not set, but '{next(iter(files))}' is; name both"
            )
