"""The registry, the section `data` of the config, and the checks of images and checkpoints."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file

from clusterlens.data.checkpoints import inspect
from clusterlens.data.facts import subset
from clusterlens.data.formats import read_images, write_arrays
from clusterlens.data.registry import find_raw, load
from clusterlens.errors import UserError
from clusterlens.provenance import REAL, stand_in

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = load(ROOT / "config" / "datasets.yaml")
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["data"]


def test_config_and_registry_name_the_same_data_sets():
    assert set(CONFIG) == set(REGISTRY)
    for name, settings in CONFIG.items():
        if settings["source"] != "embedded":
            assert settings["source"] in REGISTRY[name], name


def test_own_files_come_in_the_order_of_the_raw_files():
    for name in (name for name, entry in REGISTRY.items() if entry["kind"] in ("text", "labelled_text")):
        assert len(CONFIG[name]["files"]) == len(REGISTRY[name]["mirror"]["files"])
        assert next(iter(CONFIG[name]["files"])) == "train"
        assert REGISTRY[name]["mirror"]["files"][0].startswith("train")


@pytest.mark.parametrize(
    "change",
    [{"kind": "film"}, {"licens": "MIT"}, {"torchvision": {"url": "ftp://x", "checksum": "md5:0"}}, {"mirror": {}}],
)
def test_wrong_entries_are_refused(tmp_path, change):
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({"cifar10": REGISTRY["cifar10"] | change}))
    with pytest.raises(UserError) as caught:
        load(tmp_path / "r.yaml")
    assert "cifar10" in str(caught.value) and "\n" not in str(caught.value)


def test_either_of_two_names_will_do(tmp_path):
    with pytest.raises(UserError, match=r"no diabetes_prediction_dataset\.csv or diabetes_dataset\.csv"):
        find_raw(tmp_path, REGISTRY["diabetes"])
    (tmp_path / "diabetes_dataset.csv").touch()
    assert find_raw(tmp_path, REGISTRY["diabetes"]) == [tmp_path / "diabetes_dataset.csv"]


def test_a_subset_is_labelled():
    counts = {"train": 10_000, "test": 10_000}
    label = "a subset of CIFAR-10 (train 10,000 of 50,000)"
    assert subset("cifar10", REGISTRY["cifar10"], counts) == [stand_in("cifar10", label, REAL)]
    assert subset("cifar10", REGISTRY["cifar10"], {"train": 50_000, "test": 10_000}) == []


def images(**changed):
    pixels, labels = np.zeros((4, 8, 8, 3), np.uint8), np.arange(4)
    return {"train_x": pixels, "train_y": labels, "test_x": pixels, "test_y": labels} | changed


def test_images_survive_writing(tmp_path):
    write_arrays(tmp_path / "i.npz", images())
    assert np.array_equal(read_images(tmp_path / "i.npz")["train_y"], np.arange(4))


@pytest.mark.parametrize(
    "changed",
    [
        {"train_x": np.zeros((4, 8, 8, 3))},
        {"train_x": np.zeros((4, 8, 8), np.uint8)},
        {"test_y": np.arange(3)},
        {"test_y": np.arange(4.0)},
        {"test_x": np.zeros((4, 9, 9, 3), np.uint8)},
    ],
)
def test_unusable_images(tmp_path, changed):
    write_arrays(tmp_path / "i.npz", images(**changed))
    with pytest.raises(UserError) as caught:
        read_images(tmp_path / "i.npz")
    assert "\n" not in str(caught.value)


def test_images_from_something_else(tmp_path):
    (tmp_path / "i.npz").write_text("no archive")
    with pytest.raises(UserError, match="not a readable npz"):
        read_images(tmp_path / "i.npz")
    np.savez(tmp_path / "o.npz", **images(train_y=np.array([{}] * 4, dtype=object)))
    with pytest.raises(UserError, match="not a readable npz"):
        read_images(tmp_path / "o.npz")
    np.savez(tmp_path / "m.npz", train_x=np.zeros(3))
    with pytest.raises(UserError, match="no array"):
        read_images(tmp_path / "m.npz")


def checkpoint(folder):
    (folder / "config.json").write_text('{"model_type": "albert"}')
    save_file({"a": np.zeros((3, 4), np.float32), "b": np.zeros(5, np.float32)}, folder / "model.safetensors")
    return folder


def test_checkpoint(tmp_path):
    assert inspect(checkpoint(tmp_path)) == {"model_type": "albert", "weights": "model.safetensors", "parameters": 17}


def test_broken_checkpoints(tmp_path):
    with pytest.raises(UserError, match=r"no config\.json"):
        inspect(tmp_path)
    checkpoint(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(UserError, match="damaged or cut short"):
        inspect(tmp_path)
    weights.unlink()
    with pytest.raises(UserError, match=r"neither model\.safetensors nor"):
        inspect(tmp_path)
    (tmp_path / "pytorch_model.bin").write_text("half a file")
    with pytest.raises(UserError, match="damaged or cut short"):
        inspect(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(UserError, match="not a transformers config"):
        inspect(tmp_path)
