"""Rewrite what the documents take from the tree: keys, items, the rule graph, pictures. Usage: make docs."""

import subprocess
import sys
from pathlib import Path

from media import END, rewrite_verdicts, write_film
from targets import cost

from clusterlens.config import document as table_of_keys
from clusterlens.config import load_schema
from clusterlens.items import read_items
from clusterlens.schema import read_yaml

ROOT = Path(__file__).resolve().parent.parent
START = "<!-- written by make docs -->\n"


def table_of_items() -> str:
    """One row per item: what to type, what it shows, how long it takes, whether it is there."""
    lines = [
        "<details><summary>All items, with times</summary>\n",
        "| target | shows | mini | paper | GPU | state |",
        "|---|---|---|---|---|---|",
    ]
    for item in read_items():
        built = "built" if item.built else "not run"
        lines.append(f"| {' | '.join((f'`{item.target}`', item.shows, *cost(item), built))} |")
    return "\n".join([*lines, "\n</details>"]) + "\n"


def rule_graph() -> str:
    """The rules and what they pass on, as Mermaid, which code hosts draw."""
    command = [sys.executable, "tools/launcher.py", "--rulegraph", "mermaid-js", "--cores", "1", "--forceall"]
    graph = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = graph[graph.index("---") :].strip().splitlines()
    edges = sorted(line for line in lines if "-->" in line)  # Snakemake gives them in any order
    return "\n".join(["```mermaid", *(line for line in lines if "-->" not in line), *edges, "```"]) + "\n"


DOCUMENTS = {
    ROOT / "config" / "README.md": lambda: table_of_keys(read_yaml(ROOT / "config" / "config.yaml"), load_schema()),
    ROOT / "README.md": table_of_items,
    ROOT / "docs" / "rules.md": rule_graph,
}


def rewritten(file: Path) -> str:
    """The document with everything between its two marks replaced by what is current."""
    before, rest = file.read_text(encoding="utf-8").split(START)
    return f"{before}{START}\n{DOCUMENTS[file]()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    for file in DOCUMENTS:
        file.write_text(rewritten(file), encoding="utf-8")
    write_film(ROOT / "docs" / "clustering.gif")
    rewrite_verdicts(ROOT / "README.md")
