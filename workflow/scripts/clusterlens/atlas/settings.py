"""The jobs behind a result with their settings, followed from manifest to manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clusterlens.files import read_json

LONGEST = 12  # entries of a list that are shown one by one


@dataclass(frozen=True)
class Job:
    """Jobs of one rule with the same settings."""

    rule: str
    names: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]


def jobs_behind(manifest: dict, tree: Path) -> list[Job]:
    """The result's own job first, then those upstream; jobs that differ in their wildcards or seed only are one."""
    found: dict[tuple, list[str]] = {}
    for one in chain(manifest, tree):
        settings = {name: value for name, value in one["settings"].items() if name not in ("seed", "runs")}
        name = " ".join(str(value) for value in one["wildcards"].values())
        found.setdefault((one["rule"], tuple(flat(settings))), []).append(name)
    return [Job(rule, tuple(filter(None, names)), settings) for (rule, settings), names in found.items()]


def chain(manifest: dict, tree: Path) -> Iterator[dict]:
    """A manifest and those among its inputs, each file once, as far as they can be found from the results' folder."""
    waiting, seen = [manifest] if manifest else [], set()
    while waiting:
        one = waiting.pop(0)
        yield one
        for name in one["inputs"]:
            if name.endswith("manifest.json") and name not in seen:
                seen.add(name)
                waiting += [read_json(path)] if (path := located(Path(name), tree)) else []


def located(path: Path, tree: Path) -> Path | None:
    """An input as its job named it, from a folder above the results or from the working folder."""
    places = (folder / path for folder in (*tree.resolve().parents, Path()))
    return next((place for place in places if place.is_file()), None)


def flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """`a/b/c` and its value for each setting of a nested section."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}/{key}" if name else str(key))
    else:
        yield name, listed(value)


def listed(value: object) -> str:
    if not isinstance(value, list):
        return "none" if value is None else str(value)
    shown = ", ".join(map(listed, value[:LONGEST]))
    return shown + (f", … ({len(value)} in all)" if len(value) > LONGEST else "")
