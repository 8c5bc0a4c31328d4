"""Rewrite the table of keys in config/README.md from the schemas. Usage: make keys."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from clusterlens.config import document

README = ROOT / "config" / "README.md"
START, END = "<!-- keys: written by make keys -->\n", "<!-- end of keys -->\n"


def rewritten(text: str) -> str:
    """`text` with everything between the two marks replaced by the current table."""
    before, rest = text.split(START)
    return before + START + "\n" + document(ROOT / "workflow" / "schemas") + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
