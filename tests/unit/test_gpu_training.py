"""Training on a pretended GPU, resume on one, half precision with a scaled loss on the CPU, memory that runs out."""

import re
from functools import reduce
from operator import getitem

import numpy as np
import pytest
import torch
from safetensors.torch import save_model

from clusterlens.errors import UserError
from clusterlens.models.arms import ARMS, LanguageRun
from clusterlens.models.image_models import RUNS
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml
from clusterlens.training import checkpoints, loop
from clusterlens.training.finetuning_task import FinetuningTask
from clusterlens.training.image_task import ImageTask
from clusterlens.training.loop import Run, train
from clusterlens.training.pretraining_task import PretrainingTask
from clusterlens.training.task import Task
from reference.fake_cuda import pretended_card
from reference.language import FINETUNING, MODEL, PRETRAINING, write_corpus

pytestmark = pytest.mark.usefixtures("one_thread")

PAPER = read_yaml(ROOT / "config" / "config.yaml")
ARCHITECTURE = PAPER["architecture"] | {
    "image_size": 8, "patch_size": 4, "embedding_dimension": 16, "depth": 1, "heads": 2, "time_steps": 2, "classes": 3,
}  # fmt: skip
RECIPE = PAPER["training"] | {"batch_size": 8, "epochs": 2, "random_augment": "rand-m9-n2", "random_erasing": 0.25}
CPU = torch.device("cpu")
TASKS = [*RUNS, *(f"pretraining {arm}" for arm in ARMS), "finetuning sdp", "finetuning sq_shared"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Images, texts, and the weights of a pre-trained model for each arm."""
    folder = tmp_path_factory.mktemp("data")
    labels = np.arange(16, dtype=np.uint8) % 3
    pictures = np.random.default_rng(0).integers(0, 255, (16, 8, 8, 3)).astype(np.uint8)
    np.savez(folder / "images.npz", train_x=pictures, train_y=labels, test_x=pictures, test_y=labels)
    write_corpus(folder / "tokens.npz")
    for arm in ARMS:
        torch.manual_seed(0)
        save_model(task_of(f"pretraining {arm}", folder).build(), str(folder / f"{arm}.safetensors"))
    return folder


def task_of(name: str, folder, *, device: torch.device = CPU, mixed_precision: bool = True) -> Task:
    """A run of an image model, or a phase and an arm of the language models."""
    phase, _, arm = name.partition(" ")
    if not arm:
        recipe, images = RECIPE | {"mixed_precision": mixed_precision}, str(folder / "images.npz")
        return ImageTask(name, images, seed=0, architecture=ARCHITECTURE, training=recipe, device=device)
    shared = {"model": MODEL | {"mixed_precision": mixed_precision}, "device": device}
    run, tokens = LanguageRun(arm, 16, 0), str(folder / "tokens.npz")
    if phase == "pretraining":
        few = {"train_lines": 8, "validation_lines": 4}
        return PretrainingTask(run, tokens, phase=PRETRAINING | few, **shared)
    few = {"train_texts": 8, "test_texts": 4}
    weights = folder / f"{arm}.safetensors"
    return FinetuningTask(run, "sst2", tokens, weights=weights, phase=FINETUNING | few, **shared)


def places(run: Run) -> set[tuple[str, torch.dtype]]:
    """Where the weights and the optimiser's numbers are, and of which type."""
    numbers = [number for state in run.optimizer.state.values() for number in state.values()]
    return {(tensor.device.type, tensor.dtype) for tensor in (*run.model.parameters(), *numbers)}


@pytest.mark.parametrize("name", TASKS)
def test_an_epoch_on_a_gpu_that_is_not_there(name, files):
    """Augmentation, forward pass in half precision, scaling, clipping, the fused optimiser and validation."""
    with pretended_card() as device:
        run = Run(task_of(name, files, device=device))
        row = run.epoch(1)
        assert run.half and places(run) == {("cuda", torch.float32)}
        assert row["train_loss"] == 0.5 and row["val_loss"] is not None


@pytest.mark.parametrize("name", ["spikformer_parametric", "pretraining sdp", "finetuning sq_shared"])
def test_a_checkpoint_of_a_cpu_is_resumed_on_a_gpu(name, files, tmp_path):
    on_cpu = Run(task_of(name, files))
    on_cpu.epoch(1)
    checkpoints.save(tmp_path, 1, on_cpu.state(), {})
    state = checkpoints.load_latest(tmp_path, {})
    with pretended_card() as device:
        run = Run(task_of(name, files, device=device))
        run.restore(state)
        assert places(run) == {("cuda", torch.float32)} and run.updates == on_cpu.updates
        run.epoch(2)
        assert [row["epoch"] for row in run.rows] == [1, 2]


def test_fewer_cards_than_before_are_no_obstacle(monkeypatch):
    """The random state of each card is kept; a job that is requeued may get another node."""
    given = []
    state = checkpoints.random_state() | {"cuda": [torch.zeros(16, dtype=torch.uint8)] * 2}
    monkeypatch.setattr("torch.cuda.random.set_rng_state", lambda one, device: given.append(device))
    for cards in (0, 1, 2):
        monkeypatch.setattr(torch.cuda, "is_available", lambda cards=cards: cards > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda cards=cards: cards)
        checkpoints.restore_random_state(state)
    assert given == [0, 0, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "name", ["vit", "spikformer", "spikformer_parametric", "pretraining sdp", "finetuning sq_shared"]
)
def test_half_precision_with_a_scaled_loss_trains(name, dtype, files, monkeypatch):
    """The way of a GPU, on the CPU: without the fused kernels, which take single precision only."""
    full = Run(task_of(name, files))
    wanted = full.epoch(1)
    monkeypatch.setattr(loop, "half_precision", lambda task: True)
    monkeypatch.setattr(Run, "autocast", lambda run: torch.autocast("cpu", dtype))
    run = Run(task_of(name, files))
    before = [parameter.detach().clone() for parameter in run.model.parameters()]
    row = run.epoch(1)
    assert run.scaler.is_enabled() and run.scaler.get_scale() > 1
    assert row["train_loss"] == pytest.approx(wanted["train_loss"], rel=0.05)
    for old, new in zip(before, run.model.parameters(), strict=True):
        assert new.isfinite().all() and new.dtype == torch.float32
        assert new.grad is None or not new.grad.any() or not torch.equal(old, new)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("vit", "training/batch_size, architecture/time_steps"),
        ("pretraining sdp", "language_model/pretraining/batch_size"),
        ("finetuning sdp", "language_model/finetuning/batch_size"),
    ],
)
def test_memory_that_runs_out_names_the_keys_to_lower(name, key, files, tmp_path):
    task = task_of(name, files)

    def no_memory(model, chosen):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")

    task.loss = no_memory
    with pytest.raises(UserError) as stopped:
        train(task, metrics=tmp_path / "metrics.csv", checkpoint_root=tmp_path)
    assert f"no memory left on cpu: lower {key}" in str(stopped.value) and "\n" not in str(stopped.value)
    for named in re.findall(r"[\w/]+/\w+", task.smaller):
        assert isinstance(reduce(getitem, named.split("/"), PAPER), int), named
