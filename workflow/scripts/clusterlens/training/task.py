"""What a task tells the training loop: its model, its data and its recipe."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from timm.scheduler.scheduler import Scheduler
from torch import nn


class Task(ABC):
    """One run of one model with one seed.

    The loop saves and restores the generators of Python, NumPy and torch. A task that wants randomness of its own, the
    same for every model, makes a generator in `batches` from `seed` and `epoch`: it needs no saving.
    """

    name: str  # for messages
    seed: int
    settings: dict  # whatever changes the outcome, with a fingerprint of the data: checkpoints are bound to it
    device: torch.device
    epochs: int
    columns: tuple[str, ...]  # what `validate` returns, and "lr", as ordered in the metrics; a bar shows the first two
    examples: str  # what the throughput counts, such as "images"
    advice: str  # what to change when the loss is not finite
    smaller: str  # what to lower when memory runs out
    mixed_precision: bool = False  # half precision on a GPU; a CPU always computes in full precision
    clip_norm: float | None = None  # the largest norm of all gradients together

    @abstractmethod
    def build(self) -> nn.Module:
        """The model before training, drawn from torch's random state or read from a file."""

    @abstractmethod
    def recipe(self, model: nn.Module) -> tuple[torch.optim.Optimizer, Scheduler]:
        """The optimiser and its learning rate, by epoch or (`t_in_epochs=False`) by optimiser step, counted from 0."""

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[torch.Tensor]:
        """The positions of the examples of each batch; epochs are counted from 1."""

    @abstractmethod
    def loss(self, model: nn.Module, chosen: torch.Tensor) -> torch.Tensor:
        """The loss of one batch of `batches`."""

    @abstractmethod
    def validate(self, model: nn.Module) -> dict[str, float | None]:
        """The columns that this task measures after an epoch; called in evaluation mode and without gradients."""
