"""Canonical formats that every later step reads: tables, arrays, images, JSON lines, the picture with its mask."""

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlens.errors import UserError
from clusterlens.files import replacing

IMAGE_KEYS = ("train_x", "train_y", "test_x", "test_y")


def write_csv(path: str | os.PathLike, frame: pd.DataFrame) -> None:
    """A table without its index."""
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")


def write_arrays(path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
    with replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]


def read_arrays(path: Path, keys: Iterable[str]) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in keys}
    except KeyError as error:
        raise UserError(f"{path}: no array {error}; needed are {', '.join(keys)}") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: not a readable npz file ({type(error).__name__}); make it again") from None


def read_images(path: Path) -> dict[str, np.ndarray]:
    """train_x, test_x as uint8 (N, H, W, 3) and train_y, test_y as whole numbers (N,)."""
    arrays = read_arrays(path, IMAGE_KEYS)
    for split in ("train", "test"):
        images, labels = arrays[f"{split}_x"], arrays[f"{split}_y"]
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] != 3 or not len(images):
            raise UserError(
                f"{path}: {split}_x is {images.dtype} {images.shape}; needed is uint8 (N, height, width, 3)"
            )
        if labels.shape != (len(images),) or labels.dtype.kind not in "iu":
            raise UserError(
                f"{path}: {split}_y is {labels.dtype} {labels.shape}; needed are {len(images)} whole numbers"
            )
    if arrays["train_x"].shape[1:] != arrays["test_x"].shape[1:]:
        raise UserError(f"{path}: train_x and test_x have images of different sizes")
    return arrays


def read_picture(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The prepared picture: image as uint8 (size, size, 3) and mask as bool (size, size)."""
    arrays = read_arrays(path, ("image", "mask"))
    return arrays["image"], arrays["mask"]


def write_jsonl(path: Path, rows: Iterable[dict]) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_jsonl(path: Path) -> Iterator[dict]:
    """Rows of a JSON-lines file; a line that is not a JSON object is named."""
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                row = None
            if not isinstance(row, dict):
                raise UserError(
                    f'{path}, line {number}: not a JSON object; every line must be one, such as {{"text": ...}}'
                )
            yield row
