"""A small made-up tree of results: items done, not run and with missing files, and text that must be escaped."""

import base64
import json
from pathlib import Path

import pandas as pd

from clusterlens.metrics.numbers import TIDY
from clusterlens.verify import claims, compare

HOSTILE = "<script>document.title='broken'</script> & \"quotes\" 'too' {{ 1 }}"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
STAND_IN = {"dataset": "cifar10", "label": "digits for CIFAR-10", "kind": "embedded"}
AS_PRINTED = {"scale": "paper", "kind": "as in the paper"}
TABLE = pd.DataFrame({"Model": ["ViT", HOSTILE], "Parameters": ["21.34M", "9"], "Parameters ±95%": ["", "0.123"]})
CONTENT = {
    "png": base64.b64decode(PIXEL),
    "gif": base64.b64decode(PIXEL),
    "html": b"<!doctype html><p>a view</p>",
    "csv": TABLE.to_csv(index=False).encode(),
}
FILES = {  # what is there of the items that have run; fig1 lacks its PDF and its MP4
    "spiking/table1": ("csv",),
    "spiking/fig1": ("png", "csv", "gif", "html"),
    "spiking/fig2": ("png", "pdf", "csv"),
}


def manifest(
    rule: str, *, scale: str = "paper", stand_ins: tuple = (), inputs: tuple = (), settings: dict | None = None
):
    return {
        "rule": rule,
        "wildcards": {"item": rule},
        "scale": scale,
        "stand_ins": list(stand_ins),
        "seeds": [0, 1],
        "device": "cpu",
        "settings": settings or {},
        "inputs": dict.fromkeys(inputs, "0" * 64),
        "commit": "1" * 40,
        "versions": {"python": "3.11.7"},
        "finished": "2026-01-01T00:00:00+00:00",
        "seconds": 1.5,
    }


def claim(name: str, paper: str, item: str, verdict: str, **others: object) -> dict:
    text = {
        "id": name,
        "paper": paper,
        "item": item,
        "verdict": verdict,
        "claim": f"What {name} says.",
        "whose": "paper",
    }
    return dict.fromkeys(claims.COLUMNS, "") | text | {"source": "§1"} | others


def claim_rows() -> list[dict]:
    stand_in = {"scale": "mini", "data": STAND_IN["label"], "kind": "stand-in data", "waits for": "data and scale"}
    return [
        claim("S.table1", "spiking", "table1", "reproduced", ours="12 of 12 numbers met", **AS_PRINTED),
        claim("S.fig1_gathers", "spiking", "fig1", "not reproduced", ours="0.25", low="0.2", high="0.3", seeds=10)
        | {"threshold": "≥ 0.9", "reason": HOSTILE, "claim": f"Particles gather {HOSTILE}"}
        | AS_PRINTED,
        claim("S.spikformer_heads_cluster", "spiking", "fig2", "held here", ours="1.5", published="1.4", **stand_in),
        claim("T.one_cluster", "transformers", "fig3", "not run"),
    ]


def number_rows() -> list[dict]:
    def row(item: str, label: str, **others: str) -> dict:
        plain = {"paper": "spiking", "item": item, "row": label, "column": "Parameters", "what": "measurement"}
        return dict.fromkeys(compare.COLUMNS, "") | plain | others

    exact = {"tolerance": "exact", "seeds": "1"} | AS_PRINTED
    return [
        row("table1", "ViT", published="21.34M", ours="21.34M", verdict="match", difference="0", **exact),
        row("table1", HOSTILE, published="7", ours="9", verdict="differs", difference="2", **exact),
        row("table2", "ViT", published="84.94", verdict="not run", tolerance="abs 1.5"),
    ]


def write_tree(folder: Path) -> Path:
    """The tree `<folder>/results/mini`; returns it."""
    tree = folder / "results" / "mini"
    for name, extensions in FILES.items():
        place = tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        for extension in extensions:
            place.with_name(f"{place.name}.{extension}").write_bytes(CONTENT.get(extension, b"anything"))
    upstream = "results/mini/spiking/data/fig1.manifest.json"
    manifests = {
        "spiking/table1.manifest.json": manifest("table_complexity"),
        "spiking/fig1.manifest.json": manifest("plot_particles", inputs=(upstream, "gone/manifest.json")),
        "spiking/data/fig1.manifest.json": manifest(
            "simulate_particles", settings={"settings": {"beta": 9, "note": HOSTILE}}
        ),
        "spiking/fig2.manifest.json": manifest("plot_heads", scale="mini", stand_ins=(STAND_IN,)),
    }
    for name, value in manifests.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(json.dumps(value))
    cells = [["ViT", "Parameters", "21.34M", "", "", 1, ""], ["ViT", "Depth", "12.0", "11.5", "12.5", 2, "0:11 1:13"]]
    cells += [[f"row {place}", "filler", place, "", "", 1, ""] for place in range(400)]
    pd.DataFrame(cells, columns=TIDY).to_csv(tree / "spiking" / "table1.numbers.csv", index=False)
    pd.DataFrame(claim_rows()).to_csv(tree / "claims.csv", index=False)
    pd.DataFrame(number_rows()).to_csv(tree / "comparison.csv", index=False)
    (tree / "verdicts.png").write_bytes(CONTENT["png"])
    return tree
