"""What a prepared data set's manifest says: where it came from, and how much of the official release it is."""

from clusterlens.files import read_json
from clusterlens.provenance import REAL, stand_in

PASSED_ON = ("dataset", "title", "licence", "source", "revision", "files")


def facts_of(entry: dict, counts: dict[str, int], raw_manifest: str, changed: dict | None = None) -> dict:
    """The facts of the retrieval, the counts, and a label if this is less than what was published, or other data.

    `changed` are the settings of the data set that are not the paper's.
    """
    raw = read_json(raw_manifest)
    facts = {key: raw[key] for key in PASSED_ON}
    labels = subset(raw["dataset"], entry, counts) + altered(raw["dataset"], entry, changed or {})
    return facts | {"counts": counts, "stand_ins": raw["stand_ins"] or labels}


def subset(dataset: str, entry: dict, counts: dict[str, int]) -> list[dict]:
    """A subset must not pass for the whole: it is labelled like a stand-in."""
    official = entry.get("counts", {})
    short = [f"{split} {counts[split]:,} of {whole:,}" for split, whole in official.items() if counts[split] < whole]
    return [stand_in(dataset, f"a subset of {entry['title']} ({'; '.join(short)})", REAL)] if short else []


def altered(dataset: str, entry: dict, changed: dict) -> list[dict]:
    """Other columns or another size make other data, with which a claim about the paper's cannot be judged."""
    values = {name: value if isinstance(value, list) else [value] for name, value in changed.items()}
    texts = (f"{name}: {', '.join(map(str, value))}" for name, value in values.items())
    return [stand_in(dataset, f"{entry['title']} with other settings ({'; '.join(texts)})", REAL)] if changed else []
