"""Masked language modelling (A Section 4.1): which word stood where the mask is?"""

import numpy as np
import torch
from torch import nn

from clusterlens.models.arms import LanguageRun
from clusterlens.models.longformer import LongformerForMaskedLM
from clusterlens.models.masked_loss import IGNORED
from clusterlens.training.masking import masked
from clusterlens.training.text_task import TextTask, splits
from clusterlens.training.texts import by_length, padded

TEST_BATCH = 32  # lines


class PretrainingTask(TextTask):
    columns = ("val_loss", "lr")
    advice = "lower language_model pretraining learning_rate, add warmup_steps or switch mixed_precision off"
    smaller = "language_model/pretraining/batch_size or language_model/max_sequence_length"

    def __init__(self, run: LanguageRun, tokens: str, *, model: dict, phase: dict, device: torch.device):
        counts = {"trained": phase["train_lines"], "tested": phase["validation_lines"]}
        train, valid = splits(tokens, phase, labelled=False, **counts)
        super().__init__(run, train=train, test=valid, model=model, phase=phase, device=device)
        self.name = f"pre-training {run.arm}, window {run.window}"

    def build(self) -> nn.Module:
        return LongformerForMaskedLM(self.size)

    def loss(self, model: nn.Module, chosen: torch.Tensor) -> torch.Tensor:
        """Masks are drawn anew in every epoch."""
        tokens, real = padded(self.train_texts, chosen)
        seen, targets = masked(tokens, self.train_texts, ratio=self.phase["masking_ratio"], draw=self.draw)
        return model(seen.to(self.device), real.to(self.device), targets.to(self.device))

    def validate(self, model: nn.Module) -> dict[str, float | None]:
        """The loss per masked token, with the same masks after every epoch."""
        draw = np.random.default_rng([self.seed, 0])
        total, count = 0.0, 0
        for chosen in by_length(self.test_texts.lengths, TEST_BATCH):
            tokens, real = padded(self.test_texts, chosen)
            seen, targets = masked(tokens, self.test_texts, ratio=self.phase["masking_ratio"], draw=draw)
            predicted = int((targets != IGNORED).sum())
            total += float(model(seen.to(self.device), real.to(self.device), targets.to(self.device))) * predicted
            count += predicted
        return {"val_loss": total / count}
