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
    weights = weight_files(folder)
    found = {"model_type": kind, "weights": weights[0].name if len(weights) == 1 else f"{len(weights)} shards"}
    if weights[0].suffix == ".safetensors":
        return found | {"parameters": sum(map(count, weights))}
    for file in weights:
        check_archive(file)
    return found


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights, safetensors before torch's own; every shard of a sharded one has to be there."""
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return [folder / name]
        index = folder / f"{name}.index.json"
        if index.is_file():
            return shards(index)
    raise UserError(f"{folder}: neither model.safetensors nor pytorch_model.bin; retrieve or save the weights again")


def shards(index: Path) -> list[Path]:
    """The files that an index of shards lists."""
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        raise UserError(f"{index}: not an index of shards with a 'weight_map'; retrieve it again") from None
    missing = [name for name in names if not (index.parent / name).is_file()]
    if missing or not names:
        raise UserError(
            f"{index.parent}: {len(missing)} of {len(names)} shards are missing ({', '.join(missing[:2])}):"
            " the download is not complete, retrieve it again"
        )
    return [index.parent / name for name in names]


def check_archive(weights: Path) -> None:
    """Files from before torch 1.6 are bare pickles; anything else must be a whole zip archive."""
    with weights.open("rb") as stream:
        bare = stream.read(1) == b"\x80"
    if not bare and not zipfile.is_zipfile(weights):
        raise UserError(f"{weights}: damaged or cut short; retrieve it again")


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
