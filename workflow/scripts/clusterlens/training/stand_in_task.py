"""The training of the tiny checkpoints that stand in for the published ones: masked words, for T5 masked spans."""

from typing import NamedTuple

import numpy as np
import torch
from timm.scheduler import CosineLRScheduler
from torch import nn
from transformers import PreTrainedTokenizerFast

from clusterlens.models.stand_ins import SPANS, build
from clusterlens.training.checkpoints import fingerprint
from clusterlens.training.masking import masked
from clusterlens.training.task import Task

MASKED = 0.15  # of the words of a text
SPAN = 3  # words that one sentinel of T5 stands for
CLIP = 1.0


class Words(NamedTuple):
    """What `masked` has to know of the tokenizer."""

    special: np.ndarray
    mask: int
    vocabulary: int


class StandInTask(Task):
    columns = ("val_loss", "lr")
    examples = "texts"
    advice = "lower probing/stand_in/learning_rate"
    smaller = "probing/stand_in/batch_size or probing/stand_in/tokens"
    clip_norm = CLIP

    def __init__(self, kind: str, tokenizer: PreTrainedTokenizerFast, train: list[str], valid: list[str], *,
                 settings: dict):  # fmt: skip
        self.kind, self.tokenizer, self.stand_in = kind, tokenizer, settings
        self.words = Words(np.array(tokenizer.all_special_ids), tokenizer.mask_token_id, len(tokenizer))
        self.train_x, self.valid_x = (self.blocks(texts)[: settings["texts"]] for texts in (train, valid))
        self.settings = {"kind": kind, "stand_in": settings, "text": fingerprint(self.train_x, self.valid_x)}
        self.name, self.seed, self.device = f"tiny {kind}", settings["seed"], torch.device("cpu")
        self.epochs, self.batch_size = settings["epochs"], settings["batch_size"]

    def blocks(self, texts: list[str]) -> torch.Tensor:
        """All texts in a row, cut into blocks of equal length with the special tokens around each: (N, n)."""
        tokenizer, n = self.tokenizer, self.stand_in["tokens"]
        first = [] if tokenizer.cls_token_id is None else [tokenizer.cls_token_id]
        last = [tokenizer.eos_token_id if self.kind == "t5" else tokenizer.sep_token_id]
        inner = n - len(first) - len(last)
        words = np.concatenate([tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]).astype(int)
        rows = words[: len(words) // inner * inner].reshape(-1, inner)
        ends = [np.tile(np.array(end, dtype=int), (len(rows), 1)) for end in (first, last)]
        return torch.from_numpy(np.concatenate([ends[0], rows, ends[1]], axis=1))

    def build(self) -> nn.Module:
        """How often each word occurs is known from the start: else seconds of training would teach nothing more."""
        model = build(self.kind, self.tokenizer, self.stand_in)
        bias = model.get_output_embeddings().bias
        if bias is not None:
            counts = torch.bincount(self.train_x.flatten(), minlength=len(bias)) + 1.0
            with torch.no_grad():
                bias.copy_((counts / counts.sum()).log())
        return model

    def recipe(self, model: nn.Module) -> tuple[torch.optim.Optimizer, CosineLRScheduler]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=self.stand_in["learning_rate"], weight_decay=0.01)
        steps = self.epochs * len(self.batches(1))
        warmup = {"warmup_t": steps // 20, "warmup_lr_init": 0.0}
        return optimizer, CosineLRScheduler(optimizer, t_initial=steps, lr_min=0.0, t_in_epochs=False, **warmup)

    def batches(self, epoch: int) -> list[torch.Tensor]:
        drawn = torch.Generator().manual_seed(1000 * self.seed + epoch)
        return list(torch.randperm(len(self.train_x), generator=drawn).split(self.batch_size))

    def loss(self, model: nn.Module, chosen: torch.Tensor) -> torch.Tensor:
        drawn = np.random.default_rng([self.seed, *chosen[:4].tolist(), int(torch.randint(2**31, ()))])
        return model(**self.guessed(self.train_x[chosen], drawn)).loss

    def validate(self, model: nn.Module) -> dict[str, float | None]:
        """The loss on up to four batches of held-out text, always with the same words masked."""
        drawn = np.random.default_rng(self.seed)
        held_out = self.valid_x[: 4 * self.batch_size].split(self.batch_size)
        return {"val_loss": float(np.mean([float(model(**self.guessed(x, drawn)).loss) for x in held_out]))}

    def guessed(self, x: torch.Tensor, drawn: np.random.Generator) -> dict[str, torch.Tensor]:
        """Inputs and labels of one batch (B, n)."""
        if self.kind == "t5":
            return spans(x, drawn, first_sentinel=self.tokenizer.mask_token_id)
        inputs, labels = masked(x, self.words, ratio=MASKED, draw=drawn)
        return {"input_ids": inputs, "attention_mask": torch.ones_like(x), "labels": labels}


def spans(x: torch.Tensor, drawn: np.random.Generator, *, first_sentinel: int) -> dict[str, torch.Tensor]:
    """One span in each of SPANS equal parts of a text gives way to a sentinel; the labels are sentinels and spans."""
    part = (x.shape[1] - 1) // SPANS  # the end of text stays
    inputs, labels = [], []
    for row in x.tolist():
        starts = part * np.arange(SPANS) + drawn.integers(part - SPAN, size=SPANS)
        shown, asked, done = [], [], 0
        for index, start in enumerate(starts.tolist()):
            shown += [*row[done:start], first_sentinel + index]
            asked += [first_sentinel + index, *row[start : start + SPAN]]
            done = start + SPAN
        inputs.append(shown + row[done:])
        labels.append(asked)
    return {"input_ids": torch.tensor(inputs), "labels": torch.tensor(labels)}
