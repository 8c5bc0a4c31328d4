"""Training of image models: recipe against timm and closed forms, kill and resume, checkpoints, refusals."""

import json
import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from timm.data import Mixup

from clusterlens.data.subsets import balanced
from clusterlens.errors import UserError
from clusterlens.models import event_limits, events
from clusterlens.models.image_models import build
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml
from clusterlens.training import checkpoints
from clusterlens.training.image_recipe import make_optimizer, make_schedule
from clusterlens.training.image_task import ImageTask
from clusterlens.training.images import Preparation, load_split
from clusterlens.training.loop import train
from reference.train_once import train_once

PAPER = read_yaml(ROOT / "config" / "config.yaml")
ARCHITECTURE = PAPER["architecture"] | {
    "image_size": 8, "patch_size": 4, "embedding_dimension": 16, "depth": 1, "heads": 2, "time_steps": 2, "classes": 3,
}  # fmt: skip
RECIPE = PAPER["training"] | {"batch_size": 8, "epochs": 5, "warmup_epochs": 1, "learning_rate": 3e-3}
CPU = torch.device("cpu")


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def images(tmp_path):
    return write_images(tmp_path / "images.npz")


def write_images(path: Path, *, size: int = 8, classes: int = 3) -> str:
    rng = np.random.default_rng(0)
    labels = np.arange(36) % classes
    pictures = rng.integers(0, 80, (36, size, size, 3)) + 80 * labels[:, None, None, None] // classes
    arrays = {"x": pictures.astype(np.uint8), "y": labels.astype(np.uint8)}
    np.savez(path, train_x=arrays["x"][:27], train_y=arrays["y"][:27], test_x=arrays["x"][27:], test_y=arrays["y"][27:])
    return str(path)


def task_of(images: str, run: str = "vit", **training) -> ImageTask:
    return ImageTask(run, images, seed=0, architecture=ARCHITECTURE, training=RECIPE | training, device=CPU)


# What is evaluated on


def test_settings_can_be_chosen_on_images_that_neither_train_nor_test(images):
    task = task_of(images, train_images=12, test_images=6, evaluate_on="held_out")
    with np.load(images) as file:
        train = [picture.tobytes() for picture in file["train_x"]]
        rest = [train[place] for place in range(len(train)) if place not in balanced(file["train_y"], 12)]
    evaluated = [picture.numpy().tobytes() for picture in task.test_x]
    assert len(evaluated) == 6 and set(evaluated) <= set(rest)
    assert not set(evaluated) & {picture.numpy().tobytes() for picture in task.train_x}
    assert torch.bincount(task.test_y).tolist() == [2, 2, 2]


@pytest.mark.parametrize("trained", [None, 27])
def test_where_all_images_train_none_is_held_out(images, trained):
    with pytest.raises(UserError, match=r"all 27 images of .* are used to train, none is held out: lower training"):
        task_of(images, train_images=trained, evaluate_on="held_out")


# The recipe


@pytest.mark.parametrize("epoch", range(83))
def test_schedule_is_linear_then_cosine(epoch):
    training = PAPER["training"]
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=training["learning_rate"])
    make_schedule(optimizer, training).step(epoch)
    top, low, start = 5e-4, 1e-5, 1e-5
    if epoch < 3:
        expected = start + (top - start) * epoch / 3
    else:
        expected = low + (top - low) * (1 + math.cos(math.pi * epoch / 83)) / 2
    assert optimizer.param_groups[0]["lr"] == pytest.approx(expected, rel=1e-12)


def test_only_matrices_decay():
    model = build("spikformer_parametric", ARCHITECTURE)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = make_optimizer(model, PAPER["training"]).param_groups
    decayed = {names[id(p)] for group in groups if group["weight_decay"] for p in group["params"]}
    spared = {names[id(p)] for group in groups if not group["weight_decay"] for p in group["params"]}
    assert all(group["weight_decay"] in (0, 6e-2) for group in groups)
    assert any(name.endswith("linear.weight") for name in decayed)
    assert all("norm" in name or name.endswith((".bias", ".w")) for name in spared)
    assert {name for name in decayed | spared if name.endswith(".w")} <= spared


def test_mixup_and_smoothing_are_timms(images):
    x, y = load_split(images, "train", classes=3, limit=None)
    training = RECIPE | {"horizontal_flip": 0.0}
    prepare = Preparation(training, 3, CPU)
    np.random.seed(5)
    mixed, targets = prepare.augment(x[:8], y[:8])
    np.random.seed(5)
    theirs = Mixup(mixup_alpha=0.5, cutmix_alpha=0.0, prob=1.0, label_smoothing=0.1, num_classes=3)
    expected, labels = theirs(prepare(x[:8]), y[:8])
    torch.testing.assert_close(mixed, expected)
    torch.testing.assert_close(targets, labels)
    torch.testing.assert_close(targets.sum(1), torch.ones(8))


def test_without_mixup_labels_are_smoothed_only(images):
    x, y = load_split(images, "train", classes=3, limit=None)
    prepare = Preparation(RECIPE | {"mixup_alpha": 0.0, "horizontal_flip": 0.0}, 3, CPU)
    same, targets = prepare.augment(x[:3], y[:3])
    torch.testing.assert_close(same, prepare(x[:3]))
    torch.testing.assert_close(targets, torch.eye(3)[y[:3]] * 0.9 + 0.1 / 3)


def test_normalisation_and_flips(images):
    x, y = load_split(images, "train", classes=3, limit=None)
    prepare = Preparation(RECIPE | {"mixup_alpha": 0.0, "horizontal_flip": 1.0}, 3, CPU)
    mean, std = (torch.tensor(RECIPE[f"normalization_{name}"]) for name in ("mean", "std"))
    expected = ((x[:4] / 255 - mean) / std).permute(0, 3, 1, 2)
    torch.testing.assert_close(prepare(x[:4]), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(prepare.augment(x[:4], y[:4])[0], expected.flip(-1), rtol=1e-4, atol=1e-5)


def test_randaugment_and_erasing_can_be_switched_on(images):
    x, y = load_split(images, "train", classes=3, limit=None)
    random.seed(0)
    options = {"mixup_alpha": 0.0, "horizontal_flip": 0.0}
    erased, _ = Preparation(RECIPE | options | {"random_erasing": 1.0}, 3, CPU).augment(x[:8], y[:8])
    assert ((erased == 0).sum((1, 2, 3)) > 0).all()
    changed, _ = Preparation(RECIPE | options | {"random_augment": "rand-m9-n2"}, 3, CPU).augment(x[:8], y[:8])
    assert not torch.equal(changed, Preparation(RECIPE, 3, CPU)(x[:8]))


def test_a_policy_that_keeps_no_bit_of_a_colour_leaves_black_instead_of_an_error():
    """At magnitude 10 timm asks Pillow to posterise to 0 bits, as the published policy does now and then."""
    policy = Preparation(RECIPE | {"random_augment": "rand-m10-n1-p1-inc1"}, 3, CPU).policy
    image = Image.new("RGB", (8, 8), (200, 100, 50))
    seen = {operation.name: np.asarray(operation(image)) for operation in policy.ops}
    assert not seen["PosterizeIncreasing"].any() and len(seen) == 15


def test_more_images_than_there_are_is_refused(images):
    with pytest.raises(UserError, match=r"images, fewer than training/test_images 1,000: lower it"):
        task_of(images, test_images=1000)


def test_subsets_are_balanced():
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 1, 2, 2])
    chosen = balanced(labels, 6)
    assert np.bincount(labels[chosen]).tolist() == [2, 2, 2]
    assert list(chosen) == sorted(chosen)


# One run


def test_metrics_have_one_row_per_epoch_and_training_learns(images, tmp_path):
    task = task_of(images, epochs=12, mixup_alpha=0.0)
    train(task, metrics=tmp_path / "metrics.csv", checkpoint_root=tmp_path / "checkpoints")
    metrics = pd.read_csv(tmp_path / "metrics.csv")
    assert list(metrics["epoch"]) == list(range(1, 13))
    measured = ["val_loss", "top1", "top5", "lr", "firing_rate"]
    assert list(metrics.columns) == ["epoch", "train_loss", *measured, "seconds", "images_per_second"]
    assert metrics["train_loss"].iloc[-1] < metrics["train_loss"].iloc[0]
    assert metrics["top5"].eq(100).all()  # three classes
    assert metrics["firing_rate"].isna().all()


def test_validation_is_plain_cross_entropy_and_accuracy(images):
    task = task_of(images, "spikformer")
    torch.manual_seed(1)
    model = task.build().eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            torch.nn.init.ones_(module.bias)
    with torch.no_grad():
        found, logits = task.validate(model), model(task.prepare(task.test_x))
    assert found["val_loss"] == pytest.approx(float(torch.nn.functional.cross_entropy(logits, task.test_y)), rel=1e-5)
    assert found["top1"] == pytest.approx(100 * float((logits.argmax(1) == task.test_y).float().mean()))
    assert 0 < found["firing_rate"] < 1


def test_divergence_stops_with_a_message(images, tmp_path):
    task = task_of(images, learning_rate=1e30, warmup_epochs=0)
    with pytest.raises(UserError, match=r"vit, seed 0 diverged in epoch \d .*: lower training learning_rate"):
        train(task, metrics=tmp_path / "metrics.csv", checkpoint_root=tmp_path / "checkpoints")


# Kill and resume


def start(folder: Path, pause: float) -> subprocess.Popen:
    script = ROOT / "tests" / "reference" / "train_once.py"
    return subprocess.Popen([sys.executable, str(script), str(folder), str(pause)], stderr=subprocess.DEVNULL)


def folder_with(tmp_path: Path, name: str, run: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    write_images(folder / "images.npz")
    settings = {"run": run, "seed": 3, "architecture": ARCHITECTURE, "training": RECIPE}
    (folder / "settings.json").write_text(json.dumps(settings))
    return folder


def untimed(path: Path) -> list[str]:
    """The lines of a metrics file without the two timing columns."""
    return [line.rsplit(",", 2)[0] for line in path.read_text().splitlines()]


def test_a_killed_run_ends_with_the_same_metrics(tmp_path):
    whole, broken = folder_with(tmp_path, "whole", "spikformer"), folder_with(tmp_path, "broken", "spikformer")
    train_once(whole)
    rng = random.Random(0)
    kills = 0
    for wanted in (1, 2, 4):
        job = start(broken, 150)
        while job.poll() is None and newest(broken) < wanted:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.2)  # anywhere: in the pause, in the next epoch, while a checkpoint is written
        job.send_signal(signal.SIGKILL)
        kills += job.wait() == -signal.SIGKILL
    train_once(broken)
    assert kills >= 2
    assert untimed(broken / "metrics.csv") == untimed(whole / "metrics.csv")
    assert len(untimed(broken / "metrics.csv")) == RECIPE["epochs"] + 1
    assert len(list((broken / "checkpoints").rglob("epoch*.pt"))) == checkpoints.KEPT


def newest(folder: Path) -> int:
    return max((int(path.stem.removeprefix("epoch")) for path in folder.glob("checkpoints/*/epoch*.pt")), default=0)


@pytest.mark.parametrize("run", ["vit", "spikformer_parametric"])
def test_an_interrupted_run_ends_with_the_same_weights(run, images, tmp_path):
    class Stopped(Exception):
        pass

    def stop(epoch: int):
        if epoch == 2:
            raise Stopped

    whole = train(task_of(images, run), metrics=tmp_path / "whole.csv", checkpoint_root=tmp_path / "a")
    broken = {"metrics": tmp_path / "broken.csv", "checkpoint_root": tmp_path / "b"}
    with pytest.raises(Stopped):
        train(task_of(images, run), **broken, after_epoch=stop)
    torch.manual_seed(99), np.random.seed(99), random.seed(99)
    resumed = train(task_of(images, run), **broken)
    assert untimed(tmp_path / "broken.csv") == untimed(tmp_path / "whole.csv")
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name


@pytest.mark.skipif(events.KERNELS.handle is None, reason="no C compiler")
def test_a_resumed_run_keeps_to_the_limits_it_began_with(images, tmp_path, monkeypatch):
    class Stopped(Exception):
        pass

    def stop(epoch: int):
        if epoch == 2:
            raise Stopped

    def trained(folder: str, measured: float, **options) -> list[torch.Tensor]:
        monkeypatch.setattr(event_limits, "remembered", lambda *layer: measured)
        place = {"metrics": tmp_path / f"{folder}.csv", "checkpoint_root": tmp_path / folder}
        return list(train(task_of(images, "spikformer"), **place, **options).state_dict().values())

    monkeypatch.setattr(events, "SMALL", 0)
    few, many = trained("few", 0.05), trained("many", 0.6)
    assert not all(map(torch.equal, few, many))
    with pytest.raises(Stopped):
        trained("broken", 0.05, after_epoch=stop)
    assert all(map(torch.equal, few, trained("broken", 0.6)))
    assert untimed(tmp_path / "broken.csv") == untimed(tmp_path / "few.csv")
    assert set(event_limits.KNOWN.values()) == {0.05}


# Checkpoints


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    for epoch in (1, 2, 3):
        checkpoints.save(tmp_path, epoch, {"rows": [epoch]}, {"seed": 1})
    assert [path.name for path in checkpoints.checkpoints(tmp_path)] == ["epoch00003.pt", "epoch00002.pt"]
    assert checkpoints.load_latest(tmp_path, {"seed": 1})["rows"] == [3]
    last = tmp_path / "epoch00003.pt"
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    assert checkpoints.load_latest(tmp_path, {"seed": 1})["rows"] == [2]
    assert "epoch00003.pt is damaged: resuming from the one before" in caplog.text
    (tmp_path / "epoch00002.pt").write_bytes(b"")
    assert checkpoints.load_latest(tmp_path, {"seed": 1}) is None


def test_a_checkpoint_from_other_settings_is_refused(tmp_path):
    checkpoints.save(tmp_path, 1, {"rows": []}, {"training": {"learning_rate": 0.1}})
    with pytest.raises(UserError, match=r"training.learning_rate: 0.1 there, 0.2 here"):
        checkpoints.load_latest(tmp_path, {"training": {"learning_rate": 0.2}})
    assert checkpoints.folder_for(tmp_path, {"a": 1}) != checkpoints.folder_for(tmp_path, {"a": 2})


def test_data_of_other_content_type_or_shape_have_another_fingerprint():
    data = torch.arange(6, dtype=torch.uint8)
    others = [data.flip(0), data.view(2, 3), data.to(torch.int8), data[:5]]
    assert len({checkpoints.fingerprint(x) for x in (data, *others)}) == 5
    assert checkpoints.fingerprint(data.view(2, 3).T) == checkpoints.fingerprint(data.view(2, 3).T.contiguous())


def test_random_states_come_back():
    state = checkpoints.random_state()
    first = (random.random(), np.random.rand(), float(torch.rand(1)))
    checkpoints.restore_random_state(state)
    assert (random.random(), np.random.rand(), float(torch.rand(1))) == first


def test_loading_runs_no_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise SystemExit('code was run')",))

    checkpoints.save(tmp_path, 1, {"rows": Trap()}, {})
    assert checkpoints.load_latest(tmp_path, {}) is None


# Refusals


def test_images_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(UserError, match="images are 12x12x3, the model takes 8x8x3"):
        task_of(write_images(tmp_path / "big.npz", size=12))
    with pytest.raises(UserError, match="class 2 has no train image"):
        task_of(write_images(tmp_path / "two.npz", classes=2))
    with pytest.raises(UserError, match="has 4 classes, the model 3: set architecture classes to 4"):
        task_of(write_images(tmp_path / "four.npz", classes=4))
