"""Rewrite the generated tables of the documents: keys in config/README.md, items in README.md. Usage: make docs."""

import csv
from pathlib import Path

from clusterlens.config import document as table_of_keys

ROOT = Path(__file__).resolve().parent.parent
START, END = "<!-- written by make docs -->\n", "<!-- end -->\n"


def target(row: dict[str, str]) -> str:
    """What to ask Snakemake for."""
    if row["item"] == "diagnose":
        return "results/diagnose/report.html"
    name = f"{row['item']}.{row['files'].split(',')[0]}"
    return f"results/{name}" if row["paper"] == "spiking" else f"results/{row['paper']}/{name}"


def table_of_items() -> str:
    """One row per item: what to type, what it shows, how long it takes, whether it is there."""
    with (ROOT / "published" / "items.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    lines = ["| target | shows | mini | paper | GPU | state |", "|---|---|---|---|---|---|"]
    for row in rows:
        mini = f"{row['mini_seconds']} s" if row["mini_seconds"] else "–"
        cells = (f"`{target(row)}`", row["shows"], mini, row["paper_time"], row["gpu"], row["state"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


DOCUMENTS = {
    ROOT / "config" / "README.md": lambda: table_of_keys(ROOT / "workflow" / "schemas"),
    ROOT / "README.md": table_of_items,
}


def rewritten(file: Path) -> str:
    """The document with everything between its two marks replaced by the current table."""
    before, rest = file.read_text(encoding="utf-8").split(START)
    return f"{before}{START}\n{DOCUMENTS[file]()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    for file in DOCUMENTS:
        file.write_text(rewritten(file), encoding="utf-8")
