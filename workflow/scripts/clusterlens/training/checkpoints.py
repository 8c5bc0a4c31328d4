"""Checkpoints that survive a kill: whole or absent, verified, tied to the settings that made them, safe to load."""

import hashlib
import io
import pickle
import random
from pathlib import Path

import numpy as np
import torch

from clusterlens.errors import UserError
from clusterlens.files import digest, replacing
from clusterlens.logs import log

KEPT = 2
DIGEST = 64  # hex digits of SHA-256 in front of the payload


def folder_for(root: str | Path, settings: dict) -> Path:
    """Runs with other settings have another folder, so that none resumes from a stranger's checkpoint."""
    return Path(root) / digest(settings)[:16]


def fingerprint(*arrays: torch.Tensor) -> str:
    """Tells data of other content, type or shape apart."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(f"{array.dtype}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()[:16]


def save(folder: Path, epoch: int, state: dict, settings: dict) -> None:
    """Write the state after `epoch` epochs under a temporary name, rename it, and drop all but the last two."""
    buffer = io.BytesIO()
    torch.save({**state, "epoch": epoch, "settings": flatten(settings)}, buffer)
    payload = buffer.getvalue()
    with replacing(folder / f"epoch{epoch:05d}.pt") as file:
        file.write_bytes(hashlib.sha256(payload).hexdigest().encode() + payload)
    for old in checkpoints(folder)[KEPT:]:
        old.unlink()


def load_latest(folder: Path, settings: dict) -> dict | None:
    """The newest state that is whole, or None; what is damaged is named and passed over."""
    for path in checkpoints(folder):
        content = path.read_bytes()
        if hashlib.sha256(content[DIGEST:]).hexdigest().encode() != content[:DIGEST]:
            log.warning("checkpoint %s is damaged: resuming from the one before", path)
            continue
        try:
            state = torch.load(io.BytesIO(content[DIGEST:]), map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError) as error:
            log.warning("checkpoint %s cannot be read (%s): resuming from the one before", path, error)
            continue
        refuse_stranger(path, state["settings"], flatten(settings))
        return state
    return None


def refuse_stranger(path: Path, theirs: dict[str, str], ours: dict[str, str]) -> None:
    changed = sorted(key for key in theirs.keys() | ours.keys() if theirs.get(key) != ours.get(key))
    if changed:
        key = changed[0]
        raise UserError(
            f"checkpoint {path} was made with other settings ({key}: {theirs.get(key)} there, {ours.get(key)} here): "
            "remove it or restore the setting"
        )


def checkpoints(folder: Path) -> list[Path]:
    """Newest first."""
    return sorted(folder.glob("epoch*.pt"), reverse=True)


def flatten(settings: dict, prefix: str = "") -> dict[str, str]:
    """Nested settings as one level of text, so that the first difference can be named."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        name = f"{prefix}{key}"
        flat |= flatten(value, f"{name}.") if isinstance(value, dict) else {name: str(value)}
    return flat


def random_state() -> dict:
    """The state of every generator that training draws from, in types that load without running code."""
    state = np.random.get_state(legacy=False)
    return {
        "python": random.getstate(),
        "numpy": {**state, "state": {"key": state["state"]["key"].tolist(), "pos": state["state"]["pos"]}},
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_random_state(state: dict) -> None:
    random.setstate(state["python"])
    numbers = state["numpy"]
    key = np.array(numbers["state"]["key"], dtype=np.uint32)
    np.random.set_state({**numbers, "state": {**numbers["state"], "key": key}})
    torch.set_rng_state(state["torch"])
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    torch.cuda.set_rng_state_all(state["cuda"][:here])  # a run may go on where there are fewer cards, or none
