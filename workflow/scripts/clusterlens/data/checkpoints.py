"""Checkpoint folders: whether `from_pretrained` will find what it needs, without loading any weights."""

import json
import zipfile
from pathlib import Path

from safetensors import SafetensorError, safe_open

from clusterlens.errors import UserError


def inspect(folder: Path) -> dict:
    """Model type, weight file and (for safetensors) the number of parameters, or one line on what is wrong."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = config["model_type"]
    except FileNotFoundError:
        raise UserError(
            f"{folder}: no config.json; a checkpoint folder as written by save_pretrained is needed"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        raise UserError(f"{folder / 'config.json'}: not a transformers config with a 'model_type'") from None
    weights = folder / "model.safetensors"
    if weights.is_file():
        return {"model_type": kind, "weights": weights.name, "parameters": count(weights)}
    weights = folder / "pytorch_model.bin"
    if not weights.is_file():
        raise UserError(
            f"{folder}: neither model.safetensors nor pytorch_model.bin; retrieve or save the weights again"
        )
    # Files from before torch 1.6 are bare pickles; anything else must be a whole zip archive.
    with weights.open("rb") as stream:
        bare = stream.read(1) == b"\x80"
    if not bare and not zipfile.is_zipfile(weights):
        raise UserError(f"{weights}: damaged or cut short; retrieve it again")
    return {"model_type": kind, "weights": weights.name}


def count(weights: Path) -> int:
    """Parameters in a safetensors file, from its header."""
    total = 0
    try:
        with safe_open(weights, framework="numpy") as stored:
            for name in stored.keys():  # noqa: SIM118 (not a dict, and cannot be iterated)
                size = 1
                for length in stored.get_slice(name).get_shape():
                    size *= length
                total += size
    except SafetensorError as error:
        raise UserError(f"{weights}: damaged or cut short ({error}); retrieve it again") from None
    return total
