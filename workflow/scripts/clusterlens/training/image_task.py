"""The training of S's image models (S Section 5.2)."""

import torch
import torch.nn.functional as F
from timm.loss import SoftTargetCrossEntropy
from timm.scheduler import CosineLRScheduler
from torch import nn

from clusterlens.errors import UserError
from clusterlens.models.image_models import build, check_images
from clusterlens.models.neurons import count_spikes
from clusterlens.training.checkpoints import fingerprint
from clusterlens.training.image_recipe import make_optimizer, make_schedule
from clusterlens.training.images import Preparation, load_split
from clusterlens.training.task import Task

TEST_BATCH = 256  # images; outputs do not depend on it


class ImageTask(Task):
    columns = ("val_loss", "top1", "top5", "lr", "firing_rate")
    examples = "images"
    advice = "lower training learning_rate, add warmup_epochs or switch mixed_precision off"
    smaller = "training/batch_size, architecture/time_steps or architecture/embedding_dimension"

    def __init__(self, run: str, images: str, *, seed: int, architecture: dict, training: dict, device: torch.device):
        classes = architecture["classes"]
        trained = training["train_images"]
        self.train_x, self.train_y = load_split(images, "train", classes=classes, limit=trained)
        self.test_x, self.test_y = load_split(
            images, training["evaluate_on"], classes=classes, limit=training["test_images"], trained=trained
        )
        for key, there in (("train_images", len(self.train_y)), ("test_images", len(self.test_y))):
            if there < (training[key] or 0):
                raise UserError(f"{images} has {there:,} images, fewer than training/{key} {training[key]:,}: lower it")
        check_images(self.train_x.shape, architecture)
        data = fingerprint(self.train_x, self.train_y, self.test_x, self.test_y)
        self.settings = {"run": run, "architecture": architecture, "training": training, "images": data}
        self.name, self.seed, self.device = run, seed, device
        self.architecture, self.training = architecture, training
        self.epochs, self.mixed_precision = training["epochs"], training["mixed_precision"]
        self.batch_size = min(training["batch_size"], len(self.train_y) // 2 * 2)
        self.prepare = Preparation(training, classes, device)
        self.cross_entropy = SoftTargetCrossEntropy()

    def build(self) -> nn.Module:
        return build(self.name, self.architecture)

    def recipe(self, model: nn.Module) -> tuple[torch.optim.Optimizer, CosineLRScheduler]:
        optimizer = make_optimizer(model, self.training)
        return optimizer, make_schedule(optimizer, self.training)

    def batches(self, epoch: int) -> torch.Tensor:
        order = torch.randperm(len(self.train_y))
        return order[: len(order) // self.batch_size * self.batch_size].view(-1, self.batch_size)  # whole ones only

    def loss(self, model: nn.Module, chosen: torch.Tensor) -> torch.Tensor:
        x, targets = self.prepare.augment(self.train_x[chosen], self.train_y[chosen])
        return self.cross_entropy(model(x), targets)

    def validate(self, model: nn.Module) -> dict[str, float | None]:
        """Plain cross-entropy and accuracies on the test images, and the share of neurons that fire per time step."""
        loss, top1, top5, count = 0.0, 0, 0, len(self.test_y)
        with count_spikes() as counter:
            for x, y in zip(self.test_x.split(TEST_BATCH), self.test_y.split(TEST_BATCH), strict=True):
                logits, y = model(self.prepare(x)).float(), y.to(self.device)
                loss += float(F.cross_entropy(logits, y, reduction="sum"))
                ranked = logits.topk(min(5, logits.shape[1])).indices == y[:, None]
                top1 += int(ranked[:, :1].sum())
                top5 += int(ranked.sum())
        return {
            "val_loss": loss / count,
            "top1": 100 * top1 / count,
            "top5": 100 * top5 / count,
            "firing_rate": counter.rate(),
        }
