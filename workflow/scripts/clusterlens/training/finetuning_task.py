"""Sentiment of reviews and sentences (A Section 4.1): a classifier that starts from a pre-trained encoder."""

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_model
from torch import nn

from clusterlens.data.tokens import Texts
from clusterlens.errors import UserError
from clusterlens.files import sha256
from clusterlens.models.arms import TASKS, LanguageRun
from clusterlens.models.longformer import LongformerForClassification, LongformerForMaskedLM
from clusterlens.training.checkpoints import fingerprint
from clusterlens.training.text_task import TextTask, splits
from clusterlens.training.texts import by_length, padded

TEST_BATCH = 32  # texts


class FinetuningTask(TextTask):
    columns = ("val_loss", "accuracy", "f1", "lr")
    advice = "lower language_model finetuning learning_rate or switch mixed_precision off"
    smaller = "language_model/finetuning/batch_size or language_model/max_sequence_length"

    def __init__(
        self,
        run: LanguageRun,
        task: str,
        tokens: str,
        *,
        weights: str | Path,
        model: dict,
        phase: dict,
        device: torch.device,
    ):
        train, test = splits(tokens, phase, labelled=True, trained=phase["train_texts"], tested=phase["test_texts"])
        self.weights = weights
        self.labels = {"train": checked_labels(train, task), "test": checked_labels(test, task)}
        bound = {"task": task, "weights": sha256(weights), "labels": fingerprint(*self.labels.values())}
        super().__init__(run, train=train, test=test, model=model, phase=phase, device=device, **bound)
        self.name = f"fine-tuning {run.arm}, window {run.window}, on {TASKS[task]}"

    def build(self) -> nn.Module:
        model = LongformerForClassification(self.size, classes=2)
        pretrained = LongformerForMaskedLM(self.size)
        load_model(pretrained, str(self.weights))
        model.load_encoder(pretrained.state_dict())
        return model

    def loss(self, model: nn.Module, chosen: torch.Tensor) -> torch.Tensor:
        tokens, real = padded(self.train_texts, chosen)
        logits = model(tokens.to(self.device), real.to(self.device))
        return F.cross_entropy(logits, self.labels["train"][chosen].to(self.device))

    def validate(self, model: nn.Module) -> dict[str, float | None]:
        """Cross-entropy, accuracy and the F1 score of the positive class on the test texts, both in per cent."""
        labels, loss = self.labels["test"], 0.0
        found = torch.empty_like(labels)
        for chosen in by_length(self.test_texts.lengths, TEST_BATCH):
            tokens, real = padded(self.test_texts, chosen)
            logits = model(tokens.to(self.device), real.to(self.device)).float().cpu()
            loss += float(F.cross_entropy(logits, labels[chosen], reduction="sum"))
            found[chosen] = logits.argmax(1)
        return {
            "val_loss": loss / len(labels),
            "accuracy": 100 * int((found == labels).sum()) / len(labels),
            "f1": 100 * f1(found == 1, labels == 1),
        }


def f1(found: torch.Tensor, truth: torch.Tensor) -> float:
    """2 |found ∩ true| / (|found| + |true|) of the positive class."""
    return 2 * int((found & truth).sum()) / max(1, int(found.sum() + truth.sum()))


def checked_labels(texts: Texts, task: str) -> torch.Tensor:
    labels = torch.tensor(texts.labels).long()
    wrong = sorted(set(labels.tolist()) - {0, 1})
    if wrong:
        raise UserError(f"{task}: label {wrong[0]} is neither 0 (negative) nor 1 (positive); correct the data")
    return labels
