"""What Snakemake's report opens with: the verdict picture, inside the page, as a link to the atlas."""

import base64
import textwrap
from pathlib import Path


def landing(picture: Path) -> str:
    """reStructuredText that workflow/report/workflow.rst includes; docutils refuses longer lines, and joins these."""
    data = textwrap.fill(base64.b64encode(picture.read_bytes()).decode(), 1000, subsequent_indent="   ")
    options = {"target": "atlas/index.html", "width": "100%", "alt": "One tile per claim, by paper and item"}
    lines = [f".. image:: data:image/png;base64,{data}", *(f"   :{name}: {value}" for name, value in options.items())]
    return "\n".join(lines) + "\n"
