"""Which layers of a checkpoint are looked at: those that were asked for, as far as it has them."""

import json
from pathlib import Path

import numpy as np

UNROLLED = ("albert", "t5")  # classes that `load` can make deeper


def depth_of(folder: str | Path, wanted: int) -> int | None:
    """The depth to ask `load` for: `wanted` where the class can be made deeper, else None, the checkpoint's own."""
    config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    return wanted if config.get("model_type") in UNROLLED else None


def shown_layers(wanted: list[int], depth: int) -> list[int]:
    """The layers asked for, or as many spread evenly over a checkpoint that does not have them all."""
    if max(wanted) <= depth:
        return sorted(set(wanted))
    return sorted({round(layer) for layer in np.linspace(0, depth, len(wanted))})
