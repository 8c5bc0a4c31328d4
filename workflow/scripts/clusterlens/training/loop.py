"""Training of one image model with one seed: epochs, validation, checkpoints and a row of metrics per epoch."""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import torch
import torch.nn.functional as F
from timm.loss import SoftTargetCrossEntropy
from torch import nn
from tqdm import tqdm

from clusterlens.errors import UserError
from clusterlens.files import write_csv
from clusterlens.logs import log
from clusterlens.models.neurons import count_spikes
from clusterlens.models.zoo import build, check_images
from clusterlens.seeds import seed_everything
from clusterlens.training import checkpoints
from clusterlens.training.images import Preparation, load_split
from clusterlens.training.schedule import make_optimizer, make_scheduler

# Timings come last: all columns before them are the same, byte for byte, however often a run on a CPU was interrupted.
COLUMNS = ["epoch", "train_loss", "val_loss", "top1", "top5", "lr", "firing_rate", "seconds", "images_per_second"]
TEST_BATCH = 256  # images; outputs do not depend on it


def train(
    run: str,
    seed: int,
    images: str,
    metrics: str | Path,
    *,
    architecture: dict,
    training: dict,
    checkpoint_root: str | Path,
    device: torch.device,
    code: str = "",
    after_epoch: Callable[[int], None] = lambda epoch: None,
) -> nn.Module:
    """Train to the end, from the last checkpoint if there is one; `metrics` is rewritten after every epoch."""
    task = Task(run, seed, images, architecture=architecture, training=training, device=device)
    settings = {
        "run": run,
        "seed": seed,
        "architecture": architecture,
        "training": training,
        "images": task.fingerprint(),
        "code": code,
    }
    folder = checkpoints.folder_for(checkpoint_root, settings)
    rows: list[dict] = []
    if state := checkpoints.load_latest(folder, settings):
        rows = task.restore(state)
        log.info("%s, seed %d: going on after epoch %d of %d", run, seed, len(rows), training["epochs"])
        write_csv(metrics, pd.DataFrame(rows, columns=COLUMNS))
    started, resumed = time.monotonic(), len(rows)
    for epoch in range(len(rows) + 1, training["epochs"] + 1):
        row = task.epoch(epoch)
        rows.append(row)
        checkpoints.save(folder, epoch, task.state(rows), settings)
        write_csv(metrics, pd.DataFrame(rows, columns=COLUMNS))
        left = (time.monotonic() - started) / (epoch - resumed) * (training["epochs"] - epoch)
        log.info(
            "%s, seed %d, epoch %d/%d: train %.4f, val %.4f, top-1 %.2f %%, %.0f images/s, %.0f s left",
            run, seed, epoch, training["epochs"], row["train_loss"], row["val_loss"], row["top1"],
            row["images_per_second"], left,
        )  # fmt: skip
        after_epoch(epoch)
    return task.model


class Task:
    """What one run trains on and with."""

    def __init__(self, run: str, seed: int, images: str, *, architecture: dict, training: dict, device: torch.device):
        classes = architecture["classes"]
        self.name, self.training, self.device = f"{run}, seed {seed}", training, device
        self.train_x, self.train_y = load_split(images, "train", classes=classes, limit=training["train_images"])
        self.test_x, self.test_y = load_split(images, "test", classes=classes, limit=training["test_images"])
        check_images(self.train_x.shape, architecture)
        seed_everything(seed)
        self.model = build(run, architecture).to(device)
        self.optimizer = make_optimizer(self.model, training)
        self.scheduler = make_scheduler(self.optimizer, training)
        self.half = training["mixed_precision"] and device.type == "cuda"
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.half)
        self.prepare = Preparation(training, classes, device)
        self.loss = SoftTargetCrossEntropy()
        self.last_top1 = 0.0
        self.batch = min(training["batch_size"], len(self.train_y) // 2 * 2)

    def fingerprint(self) -> str:
        """Tells data sets of the same shape apart."""
        parts = (self.train_x, self.train_y, self.test_x, self.test_y)
        return "-".join(f"{len(part)}:{int(part.long().sum())}" for part in parts)

    def epoch(self, epoch: int) -> dict:
        """Train and validate once; epochs are counted from 1."""
        started = time.monotonic()
        self.scheduler.step(epoch - 1)
        train_loss, seen = self.train_epoch(epoch)
        seconds = time.monotonic() - started
        if not math.isfinite(train_loss):
            raise UserError(
                f"{self.name} diverged in epoch {epoch} (training loss {train_loss}): "
                "lower training learning_rate, add warmup_epochs or switch mixed_precision off"
            )
        return {
            "epoch": epoch,
            "train_loss": train_loss,
            **self.validate(),
            "seconds": round(time.monotonic() - started, 3),
            "images_per_second": round(seen / seconds, 1),
        }

    def train_epoch(self, epoch: int) -> tuple[float, int]:
        self.model.train()
        order = torch.randperm(len(self.train_y))
        batches = order[: len(order) // self.batch * self.batch].view(-1, self.batch)  # the incomplete one is dropped
        total = torch.zeros((), device=self.device, dtype=torch.float64)
        bar = tqdm(
            batches,
            desc=f"{self.name}, epoch {epoch}/{self.training['epochs']}",
            disable=not sys.stderr.isatty(),
            leave=False,
        )
        for step, chosen in enumerate(bar, start=1):
            x, targets = self.prepare.augment(self.train_x[chosen], self.train_y[chosen])
            with torch.autocast(self.device.type, torch.float16, enabled=self.half):
                loss = self.loss(self.model(x), targets)
            self.optimizer.zero_grad(set_to_none=True)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            total += loss.detach()
            if not bar.disable and step % 10 == 0:
                bar.set_postfix(loss=f"{float(total) / step:.3f}", top1=f"{self.last_top1:.1f}")
        return float(total) / len(batches), batches.numel()

    @torch.no_grad()
    def validate(self) -> dict:
        """Plain cross-entropy and accuracies on the test images, and the share of neurons that fire per time step."""
        self.model.eval()
        loss, top1, top5, count = 0.0, 0, 0, len(self.test_y)
        with count_spikes() as counter:
            for x, y in zip(self.test_x.split(TEST_BATCH), self.test_y.split(TEST_BATCH), strict=True):
                with torch.autocast(self.device.type, torch.float16, enabled=self.half):
                    logits = self.model(self.prepare(x)).float()
                y = y.to(self.device)
                loss += float(F.cross_entropy(logits, y, reduction="sum"))
                ranked = logits.topk(min(5, logits.shape[1])).indices == y[:, None]
                top1 += int(ranked[:, :1].sum())
                top5 += int(ranked.sum())
        self.last_top1 = 100 * top1 / count
        return {
            "val_loss": loss / count,
            "top1": self.last_top1,
            "top5": 100 * top5 / count,
            "lr": self.optimizer.param_groups[0]["lr"],
            "firing_rate": counter.rate(),
        }

    def state(self, rows: list[dict]) -> dict:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": checkpoints.random_state(),
            "rows": rows,
        }

    def restore(self, state: dict) -> list[dict]:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.scaler.load_state_dict(state["scaler"])
        checkpoints.restore_random_state(state["random"])
        return state["rows"]
