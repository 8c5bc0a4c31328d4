"""What pre-training and fine-tuning of a Longformer have in common (A Section 4.1)."""

import numpy as np
import torch
from timm.scheduler.scheduler import Scheduler
from torch import nn

from clusterlens.data.subsets import HELD_OUT
from clusterlens.data.tokens import Texts, load_texts
from clusterlens.models.arms import ARMS, LanguageRun
from clusterlens.models.longformer import LongformerSize
from clusterlens.training.checkpoints import fingerprint
from clusterlens.training.language_recipe import make_optimizer, make_schedule
from clusterlens.training.task import Task
from clusterlens.training.texts import bucketed
from clusterlens.training.warmup import check_warmup, total_steps


def longformer_size(run: LanguageRun, model: dict, texts: Texts) -> LongformerSize:
    """A Table 2 for one arm, window and tokenizer."""
    return LongformerSize(
        vocabulary=texts.vocabulary,
        hidden=model["hidden_dimension"],
        heads=model["attention_heads"],
        feed_forward=model["intermediate_size"],
        layers=model["layers"],
        positions=model["max_sequence_length"],
        window=run.window,
        dropout=model["dropout"],
        pad_token=texts.pad,
        scaling=ARMS[run.arm].scaling,
        shared_projections=ARMS[run.arm].shared_projections,
    )


def splits(tokens: str, phase: dict, *, labelled: bool, trained: int | None, tested: int | None) -> tuple[Texts, Texts]:
    """The texts that train, and those that the model is evaluated on: another split, or what training leaves out."""
    all_train = load_texts(tokens, "train", labelled=labelled)
    held_out = phase["evaluate_on"] == HELD_OUT
    rest = all_train.held_out(trained) if held_out else load_texts(tokens, phase["evaluate_on"], labelled=labelled)
    return all_train.first(trained), rest.first(tested)


class TextTask(Task):
    """Randomness comes from seed and epoch alone, never from the arm, so that arms are paired.

    Batches and masks are drawn by a generator of the task's own, dropout by torch's, which each epoch seeds anew.
    """

    examples = "texts"

    def __init__(
        self, run: LanguageRun, *, train: Texts, test: Texts, model: dict, phase: dict, device: torch.device, **bound
    ):
        self.train_texts, self.test_texts, self.phase = train, test, phase
        check_warmup(phase, len(train), run.name)
        self.size = longformer_size(run, model, train)
        data = fingerprint(*(part for texts in (train, test) for part in (texts.tokens, texts.ends)))
        self.settings = {"arm": run.arm, "window": run.window, "model": model, "phase": phase, "texts": data, **bound}
        self.seed, self.device, self.epochs = run.seed, device, phase["epochs"]
        self.mixed_precision, self.clip_norm = model["mixed_precision"], model["clip_norm"]
        self.draw = np.random.default_rng()

    def recipe(self, model: nn.Module) -> tuple[torch.optim.Optimizer, Scheduler]:
        optimizer = make_optimizer(model, self.phase)
        return optimizer, make_schedule(optimizer, self.phase, total_steps(self.phase, len(self.train_texts)))

    def batches(self, epoch: int) -> list[torch.Tensor]:
        self.draw = np.random.default_rng([self.seed, epoch])
        torch.manual_seed(int(self.draw.integers(2**63)))
        return bucketed(self.train_texts.lengths, self.phase["batch_size"], self.draw)
