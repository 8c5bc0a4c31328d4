"""The device to compute on: from the config and torch, never from the scheduler's `gpu` token."""

import ctypes

import torch

from clusterlens.errors import UserError


def pick(name: str) -> torch.device:
    """`auto` takes CUDA where torch finds it; anything else is taken at its word or refused."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(
            f"device '{name}' asked for, but torch finds no CUDA device: set 'device: auto' or 'device: cpu'"
        )
    return torch.device(name)


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
        mallopt(trim_threshold, 2**31 - 1)
        mallopt(top_pad, 2**28)


def give_back_freed_memory() -> None:
    """Let the C library return every large block at once, where its heap would grow around the blocks of each layer.

    Capturing 16 layers of 2048 dimensions took 1.06 GB with the library's own rule, which moves its limit up to 32 MB.
    """
    mmap_threshold, block = -3, 2**22
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, block)
