"""The training loop with a task that has nothing to do with images: a regression, with its learning rate by step."""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from timm.scheduler import CosineLRScheduler
from torch import nn

from clusterlens.errors import UserError
from clusterlens.files import remove_folder
from clusterlens.training import loop
from clusterlens.training.loop import checkpoint_folder, train
from clusterlens.training.task import Task

pytestmark = pytest.mark.usefixtures("one_thread")

RATE, WARMUP, STEPS, EPOCHS = 0.2, 5, 4, 6  # STEPS per epoch


class Regression(Task):
    """Least squares with batches of unequal size, whose order comes from a generator of the task's own."""

    name, seed, epochs, device = "regression", 3, EPOCHS, torch.device("cpu")
    columns, examples = ("val_loss", "lr", "slope"), "points"
    advice = "lower the rate"

    def __init__(self, *, dropout: float = 0.0, start: torch.Tensor | None = None, clip_norm: float | None = None):
        points = np.random.default_rng(0).normal(size=(22, 3))
        self.x, self.y = torch.tensor(points).float(), torch.tensor(points @ [0.3, -0.2, 0.1] + 0.05)[:, None].float()
        self.dropout, self.start, self.clip_norm = dropout, start, clip_norm
        self.settings = {"dropout": dropout, "clip": clip_norm}

    def build(self) -> nn.Module:
        model = nn.Sequential(nn.Dropout(self.dropout), nn.Linear(3, 1))
        if self.start is not None:
            model[1].load_state_dict({"weight": self.start[None, :3], "bias": self.start[3:]})
        return model

    def recipe(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        by_step = {"warmup_t": WARMUP, "warmup_lr_init": 0.0, "t_in_epochs": False}
        return optimizer, CosineLRScheduler(optimizer, t_initial=STEPS * EPOCHS, **by_step)

    def batches(self, epoch: int) -> list[torch.Tensor]:
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.x))
        return list(torch.tensor(order).split([8, 7, 5, 2]))

    def loss(self, model, chosen):
        return ((model(self.x[chosen]) - self.y[chosen]) ** 2).mean()

    def validate(self, model):
        assert not model.training and not torch.is_grad_enabled()
        return {"val_loss": float(((model(self.x) - self.y) ** 2).mean()), "slope": float(model[1].weight[0, 0])}


def weights(model: nn.Module) -> torch.Tensor:
    return torch.cat([model[1].weight.detach().flatten(), model[1].bias.detach()])


def run(folder: Path, task: Task, **options) -> torch.Tensor:
    return weights(train(task, metrics=folder / "metrics.csv", checkpoint_root=folder / "checkpoints", **options))


def interrupted(folder: Path, task: Task, *, after: int) -> torch.Tensor:
    def stop(epoch: int):
        if epoch == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(folder, task, after_epoch=stop)
    torch.manual_seed(99), np.random.seed(99)
    return run(folder, task)


def untimed(folder: Path) -> list[str]:
    return [line.rsplit(",", 2)[0] for line in (folder / "metrics.csv").read_text().splitlines()]


def by_hand(task: Regression) -> tuple[np.ndarray, list[float], list[float]]:
    """Weights, mean losses and last rates by epoch from the closed form of the gradient, in double precision."""
    x, y = np.c_[task.x.double(), np.ones(len(task.x))], task.y.double().numpy()[:, 0]
    w, losses, rates, step = task.start.double().numpy(), [], [], 0
    for epoch in range(1, EPOCHS + 1):
        found = []
        for chosen in task.batches(epoch):
            residual = x[chosen] @ w - y[chosen]
            gradient = 2 * x[chosen].T @ residual / len(chosen)
            norm = np.linalg.norm(gradient)
            if task.clip_norm is not None and norm > task.clip_norm:
                gradient *= task.clip_norm / norm
            warm = RATE * step / WARMUP
            rate = warm if step < WARMUP else RATE * (1 + math.cos(math.pi * step / (STEPS * EPOCHS))) / 2
            w = w - rate * gradient
            found.append((residual**2).mean())
            step += 1
        losses.append(np.mean(found))
        rates.append(rate)
    return w, losses, rates


@pytest.mark.parametrize("clip_norm", [None, 0.3])
def test_steps_are_those_of_a_loop_by_hand(clip_norm, tmp_path):
    task = Regression(start=torch.tensor([1.0, 1.0, -1.0, 0.5]), clip_norm=clip_norm)
    found = run(tmp_path, task)
    expected, losses, rates = by_hand(task)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    metrics = pd.read_csv(tmp_path / "metrics.csv")
    names = ["epoch", "train_loss", "val_loss", "lr", "slope", "seconds", "points_per_second"]
    assert list(metrics.columns) == names
    np.testing.assert_allclose(metrics["train_loss"], losses, rtol=1e-4)
    np.testing.assert_allclose(metrics["lr"], rates, rtol=1e-12)


@pytest.mark.parametrize("after", [1, 4])
def test_an_interrupted_run_ends_with_the_same_weights_and_metrics(after, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    caplog.set_level("INFO", "clusterlens")
    whole = run(tmp_path / "whole", Regression(dropout=0.3))
    assert torch.equal(interrupted(tmp_path / "broken", Regression(dropout=0.3), after=after), whole)
    assert untimed(tmp_path / "broken") == untimed(tmp_path / "whole")
    assert f"regression, seed 3: resuming after epoch {after} of {EPOCHS}" in caplog.text
    assert "epoch 6/6: train_loss 0." in caplog.text and " points/s, 0 s left" in caplog.text


def test_other_settings_seeds_or_code_start_afresh(tmp_path):
    first = run(tmp_path, Regression())
    other_seed = Regression()
    other_seed.seed = 4
    run(tmp_path, other_seed)
    run(tmp_path, Regression(dropout=0.3))
    run(tmp_path, Regression(), code="another")
    assert torch.equal(run(tmp_path, Regression()), first)
    assert len(list((tmp_path / "checkpoints").iterdir())) == 4


def test_a_run_whose_checkpoints_are_gone_trains_again(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    caplog.set_level("INFO", "clusterlens")
    root = {"checkpoint_root": tmp_path / "checkpoints", "code": "digest"}
    first = train(Regression(), metrics=tmp_path / "metrics.csv", **root)
    remove_folder(checkpoint_folder(Regression(), **root))
    assert not root["checkpoint_root"].exists()
    again = train(Regression(), metrics=tmp_path / "metrics.csv", **root)
    assert torch.equal(weights(again), weights(first)) and "resuming" not in caplog.text


@pytest.mark.parametrize(("device", "step", "said"), [("cpu", 3600, True), ("cpu", 60, False), ("cuda", 3600, False)])
def test_hours_of_training_on_a_cpu_are_announced_after_two_steps(device, step, said, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    run = loop.Run(Regression())
    run.task.device = torch.device(device)
    run.warn_if_long(step, STEPS, 2)
    expected = (
        "regression, seed 3: THIS WILL TAKE ABOUT 20 H 00 MIN ON THIS CPU (3600.0 s per step, 4 steps per epoch, 6"
    )
    assert (expected in caplog.text) == bool(caplog.text) == said


def test_the_time_of_the_second_step_is_the_one_that_counts(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(loop.Run, "warn_if_long", lambda run, *given: measured.append(given[1:]))
    run(tmp_path, Regression())
    assert measured == [(STEPS, 1)]


def test_mixed_precision_clips_unscaled_gradients_and_resumes(tmp_path, monkeypatch):
    """The path of a GPU, on a CPU: half precision and a scaled loss change the result only by rounding."""
    start = torch.tensor([0.15, -0.1, 0.1, 0.05])  # so near that no scaled gradient overflows, which would skip a step
    full = run(tmp_path / "full", Regression(start=start, clip_norm=0.1))
    monkeypatch.setattr(loop, "half_precision", lambda task: True)
    task = Regression(start=start, clip_norm=0.1)
    whole = run(tmp_path / "whole", task)
    assert not torch.equal(whole, full)
    torch.testing.assert_close(whole, full, rtol=0, atol=2e-4)
    assert (full - start).abs().max() > 0.1
    far = Regression(
        start=torch.tensor([4.0, 4.0, -4.0, 2.0])
    )  # whose first gradients overflow until the scale is lower
    assert torch.equal(interrupted(tmp_path / "broken", far, after=1), run(tmp_path / "far", far))


def test_mixed_precision_is_for_gpus_only():
    task = Regression()
    found = {}
    for device in ("cpu", "cuda"):
        for wanted in (False, True):
            task.device, task.mixed_precision = torch.device(device), wanted
            found[device, wanted] = loop.half_precision(task)
    assert [key for key, value in found.items() if value] == [("cuda", True)]


@pytest.mark.parametrize("start", [1e25, math.nan])
def test_divergence_names_the_task_and_its_advice(start, tmp_path):
    with pytest.raises(UserError, match=r"^regression, seed 3 diverged in epoch 1 \(.*(inf|nan)\): lower the rate$"):
        run(tmp_path, Regression(start=torch.full((4,), start)))
    assert not list(tmp_path.rglob("epoch*.pt"))


def test_a_terminal_shows_a_bar_with_the_last_validation(tmp_path, capsys, monkeypatch):
    class Long(Regression):
        def batches(self, epoch: int) -> list[torch.Tensor]:
            return super().batches(epoch) * 3

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(tmp_path, Long())
    shown = capsys.readouterr().err
    assert "regression, seed 3, epoch 6/6" in shown
    assert "loss=" in shown and "val_loss=" in shown and "lr=" in shown


@pytest.mark.usefixtures("one_thread")
def test_a_resumed_run_takes_as_many_threads_as_it_began_with(tmp_path):
    torch.set_num_threads(2)

    def stop(epoch: int):
        torch.set_num_threads(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Regression(), after_epoch=stop)
    run(tmp_path, Regression())
    assert torch.get_num_threads() == 2
