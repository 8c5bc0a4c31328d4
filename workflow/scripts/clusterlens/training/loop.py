"""The training loop of every task: epochs, validation, checkpoints, resume and a row of metrics per epoch."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from clusterlens.data.formats import write_csv
from clusterlens.errors import UserError
from clusterlens.logs import duration, log
from clusterlens.models import event_limits
from clusterlens.seeds import seed_everything
from clusterlens.training import checkpoints
from clusterlens.training.task import Task

TRIAL = 2  # the step whose time tells how long training will take; the first also warms up
LONG = 2 * 3600  # seconds


def train(
    task: Task,
    *,
    metrics: str | Path,
    checkpoint_root: str | Path,
    code: str = "",
    after_epoch: Callable[[int], None] = lambda epoch: None,
) -> nn.Module:
    """Train to the end, from the last checkpoint if there is one; `metrics` is rewritten after every epoch.

    Its timings come last: on a CPU all columns before them are the same, byte for byte, however often a run stopped.
    """
    settings = bound_to(task, code)
    folder = checkpoints.folder_for(checkpoint_root, settings)
    with enough_memory(task):
        run = Run(task)
    if state := checkpoints.load_latest(folder, settings):
        run.restore(state)
        log.info("%s: resuming after epoch %d of %d", run.name, len(run.rows), task.epochs)
        write_csv(metrics, pd.DataFrame(run.rows))
    started, resumed = time.monotonic(), len(run.rows)
    for epoch in range(resumed + 1, task.epochs + 1):
        with enough_memory(task):
            row = run.epoch(epoch)
        checkpoints.save(folder, epoch, run.state(), settings)
        write_csv(metrics, pd.DataFrame(run.rows))
        left = (time.monotonic() - started) / (epoch - resumed) * (task.epochs - epoch)
        shown = ", ".join(" ".join(pair) for pair in rounded(row, ("train_loss", *task.columns)).items())
        log.info(
            "%s, epoch %d/%d: %s, %.0f %s/s, %.0f s left",
            run.name, epoch, task.epochs, shown, row[run.speed], task.examples, left,
        )  # fmt: skip
        after_epoch(epoch)
    return run.model


def bound_to(task: Task, code: str) -> dict:
    """What a checkpoint is tied to: a run with anything else starts afresh."""
    return {**task.settings, "seed": task.seed, "code": code}


def checkpoint_folder(task: Task, *, checkpoint_root: str | Path, code: str = "") -> Path:
    """Where `train` keeps the checkpoints of a task; they are of no use once all that it was trained for is written."""
    return checkpoints.folder_for(checkpoint_root, bound_to(task, code))


@contextmanager
def enough_memory(task: Task) -> Iterator[None]:
    """Say what to lower where the GPU's memory does not suffice."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise UserError(
            f"{task.name}, seed {task.seed}: no memory left on {task.device}: lower {task.smaller}"
            " (training then starts afresh), or choose a freer card with CUDA_VISIBLE_DEVICES"
        ) from None


def half_precision(task: Task) -> bool:
    return task.mixed_precision and task.device.type == "cuda"


def rounded(row: dict, columns: Iterable[str]) -> dict[str, str]:
    """For the eye; what was not measured is left out."""
    return {name: f"{row[name]:.4g}" for name in columns if row[name] is not None}


class Run:
    """A task in training: all that changes from step to step."""

    def __init__(self, task: Task):
        self.task, self.name, self.speed = task, f"{task.name}, seed {task.seed}", f"{task.examples}_per_second"
        seed_everything(task.seed)
        event_limits.KNOWN.clear()
        self.model = task.build().to(task.device)
        self.optimizer, self.schedule = task.recipe(self.model)
        self.half = half_precision(task)
        self.scaler = torch.amp.GradScaler(task.device.type, enabled=self.half)
        self.updates = 0
        self.rows: list[dict] = []
        self.tried = False  # whether the time of a step is known

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.task.device.type, torch.float16, enabled=self.half)

    def epoch(self, epoch: int) -> dict:
        """Train and validate once; the row of metrics is added to `rows`."""
        started = time.monotonic()
        train_loss, seen = self.train_epoch(epoch)
        seconds = time.monotonic() - started
        if not math.isfinite(train_loss):
            raise UserError(f"{self.name} diverged in epoch {epoch} (training loss {train_loss}): {self.task.advice}")
        self.model.eval()
        with torch.no_grad(), self.autocast():
            measured = {"lr": self.optimizer.param_groups[0]["lr"], **self.task.validate(self.model)}
        self.rows.append(
            {
                "epoch": epoch,
                "train_loss": train_loss,
                **{name: measured[name] for name in self.task.columns},
                "seconds": round(time.monotonic() - started, 3),
                self.speed: round(seen / seconds, 1),
            }
        )
        return self.rows[-1]

    def train_epoch(self, epoch: int) -> tuple[float, int]:
        """The mean loss of the batches, and the number of examples in them."""
        self.schedule.step(epoch - 1)
        self.model.train()
        batches = self.task.batches(epoch)
        total = torch.zeros((), device=self.task.device, dtype=torch.float64)
        last = rounded(self.rows[-1], self.task.columns[:2]) if self.rows else {}
        title = f"{self.name}, epoch {epoch}/{self.task.epochs}"
        bar = tqdm(batches, desc=title, disable=not sys.stderr.isatty(), leave=False)
        for step, chosen in enumerate(bar, start=1):
            started = time.monotonic()
            total += self.update(chosen)
            if step == TRIAL and not self.tried:
                self.tried = True
                self.warn_if_long(time.monotonic() - started, len(batches), epoch)
            if not bar.disable and step % 10 == 0:
                bar.set_postfix(loss=f"{float(total) / step:.3f}", **last)
        return float(total) / len(batches), sum(map(len, batches))

    def warn_if_long(self, seconds: float, steps: int, epoch: int) -> None:
        """Say loudly how long training will take where there is no GPU; `seconds` are those of one step."""
        left = seconds * steps * (self.task.epochs - epoch + 1)
        if self.task.device.type == "cpu" and left > LONG:
            log.warning(
                "%s: THIS WILL TAKE ABOUT %s ON THIS CPU (%.1f s per step, %d steps per epoch, %d epochs). The paper's"
                " scale is meant for a GPU. Ctrl-C stops it; config/laptop.yaml has smaller settings",
                self.name, duration(left).upper(), seconds, steps, self.task.epochs,
            )  # fmt: skip

    def update(self, chosen: torch.Tensor) -> torch.Tensor:
        """One optimiser step on one batch; returns the loss before it."""
        self.schedule.step_update(self.updates)
        with self.autocast():
            loss = self.task.loss(self.model, chosen)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        if self.task.clip_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.task.clip_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.updates += 1
        return loss.detach()

    def state(self) -> dict:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "updates": self.updates,
            "event_limits": dict(event_limits.KNOWN),
            "threads": torch.get_num_threads(),
            "random": checkpoints.random_state(),
            "rows": self.rows,
        }

    def restore(self, state: dict) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if state["scaler"]:  # a run on the CPU scales nothing
            self.scaler.load_state_dict(state["scaler"])
        self.updates, self.rows = state["updates"], state["rows"]
        event_limits.KNOWN.update(state["event_limits"])
        if self.task.device.type == "cpu":
            torch.set_num_threads(state["threads"])  # sums of other threads are rounded otherwise
        checkpoints.restore_random_state(state["random"])
