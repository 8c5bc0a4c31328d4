"""The config's section `data`: which files the user has named, and what an embedded stand-in declares."""

from pathlib import Path

from clusterlens.errors import UserError


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
    return settings["files"].get("folder") if settings["source"] == "hub" else None


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
