"""The device to compute on: from the config and torch, never from the scheduler's `gpu` token."""

import ctypes
import os

import torch

from clusterlens.errors import UserError
from clusterlens.logs import log


def pick(name: str) -> torch.device:
    """`auto` takes CUDA where torch finds it; anything else is taken at its word or refused."""
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if name == "auto":
        if visible and visible[0] in "0123456789GM" and not cards:  # numbers, GPU-... or MIG-...
            log.warning(
                "CUDA_VISIBLE_DEVICES is %s, but torch cannot use that card: computing on the CPU;"
                " see what `make check-gpu` says",
                visible,
            )
        return torch.device("cuda" if cards else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= cards:
        found = f"{cards or 'no'} CUDA device{'s' if cards > 1 else ''}"
        shown = "" if visible is None else f" (CUDA_VISIBLE_DEVICES is '{visible}')"
        allowed = "" if not cards else " or a number below that"
        raise UserError(
            f"device '{name}' asked for, but torch finds {found}{shown}: set 'device: auto' or 'device: cpu'{allowed}"
        )
    return device


def for_training(name: str, *, threads: int) -> torch.device:
    """The device of a training job, with the threads it was given and, on a CPU, memory kept between steps."""
    torch.set_num_threads(threads)
    device = pick(name)
    if device.type == "cpu":
        keep_freed_memory()
    return device


def keep_freed_memory() -> None:
    """Let the C library keep large blocks for the next use, where it would give them back and fetch them page by page.

    Training frees and asks for the same large blocks again in every layer of every step.
    """
    trim_threshold, top_pad, mmap_max = -1, -2, -4  # the names of glibc's malloc.h; other libraries have no mallopt
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, -1)
        mallopt(top_pad, 2**28)


def give_back_freed_memory() -> None:
    """Let the C library return every large block at once, where its heap would grow around the blocks of each layer.

    Capturing 16 layers of 2048 dimensions took 1.06 GB with the library's own rule, which moves its limit up to 32 MB.
    """
    mmap_threshold, block = -3, 2**22
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, block)
