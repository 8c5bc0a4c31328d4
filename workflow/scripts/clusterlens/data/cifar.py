"""CIFAR-10's own archive: pickled batches, read by an unpickler that knows nothing but arrays and bytes."""

import io
import pickle
from pathlib import Path

import numpy as np

from clusterlens.data.archives import read_members
from clusterlens.errors import UserError

TRAIN = [f"data_batch_{number}" for number in range(1, 6)]
TEST = ["test_batch"]

HARMLESS = {
    *((module, "_reconstruct") for module in ("numpy.core.multiarray", "numpy._core.multiarray")),
    *(("numpy", name) for name in ("ndarray", "dtype")),
    ("_codecs", "encode"),
}


def read_archive(archive: Path) -> dict[str, np.ndarray]:
    """train_x, train_y, test_x, test_y of a CIFAR-10 archive; images as uint8 (N, 32, 32, 3)."""
    members = read_members(archive, TRAIN + TEST)
    train = [read_batch(members[name], f"{archive}, {name}") for name in TRAIN]
    test = [read_batch(members[name], f"{archive}, {name}") for name in TEST]
    return {
        "train_x": np.concatenate([x for x, _ in train]),
        "train_y": np.concatenate([y for _, y in train]),
        "test_x": np.concatenate([x for x, _ in test]),
        "test_y": np.concatenate([y for _, y in test]),
    }


def read_batch(data: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        batch = ArrayUnpickler(io.BytesIO(data), encoding="bytes").load()
        rows, labels = np.asarray(batch[b"data"]), np.asarray(batch[b"labels"])
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    except Exception as error:  # a damaged pickle can raise anything
        raise UserError(f"{name}: not a CIFAR-10 batch ({type(error).__name__}): retrieve it again") from None
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != 3072 or labels.shape != (len(rows),):
        raise UserError(f"{name}: not a CIFAR-10 batch (data {rows.dtype} {rows.shape}, labels {labels.shape})")
    return rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels.astype(np.uint8)


class ArrayUnpickler(pickle.Unpickler):
    """An unpickler that can build arrays and bytes, and so cannot be made to run anything."""

    def find_class(self, module: str, name: str):
        if (module, name) in HARMLESS:
            return super().find_class(module, name)
        raise UserError(f"the pickle asks for {module}.{name}, which no image batch needs: do not trust this file")
