"""The device to compute on: from the config and torch, never from the scheduler's `gpu` token."""

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
