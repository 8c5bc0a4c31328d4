"""The registry, the section `data` of the config, and the checks of images and checkpoints."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file

from clusterlens.data.checkpoints import inspect
from clusterlens.data.facts import subset
from clusterlens.data.formats import read_images, write_arrays
from clusterlens.data.registry import find_raw, load, of_kind
from clusterlens.data.settings import retrieval_settings
from clusterlens.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "registry" / "datasets.schema.yaml"
REGISTRY = load(ROOT / "config" / "datasets.yaml", SCHEMA)
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["data"]


def test_config_and_registry_name_the_same_data_sets():
    assert set(CONFIG) == set(REGISTRY)
    for name, settings in CONFIG.items():
        if settings["source"] != "file":
            assert settings["source"] in REGISTRY[name], name


def test_defaults_of_the_schema_are_the_paper_configuration():
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "data.schema.yaml").read_text())

    def defaults(entry):
        if "properties" in entry:
            return {key: defaults(value) for key, value in entry["properties"].items()}
        return entry["default"]

    assert defaults(schema) == CONFIG


def test_own_files_come_in_the_order_of_the_raw_files():
    for name in of_kind(REGISTRY, "text") + of_kind(REGISTRY, "labelled_text"):
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
        load(tmp_path / "r.yaml", SCHEMA)
    assert "cifar10" in str(caught.value) and "\n" not in str(caught.value)


def test_settings_that_only_prepare_do_not_retrieve_again():
    changed = CONFIG["heart"] | {"samples_per_class": 3, "seed": 9}
    assert retrieval_settings(REGISTRY["heart"], changed) == retrieval_settings(REGISTRY["heart"], CONFIG["heart"])
    assert retrieval_settings(REGISTRY["c4"], CONFIG["c4"])["documents"] == 1024


def test_either_of_two_names_will_do(tmp_path):
    with pytest.raises(UserError, match=r"no diabetes_prediction_dataset\.csv or diabetes_dataset\.csv"):
        find_raw(tmp_path, REGISTRY["diabetes"])
    (tmp_path / "diabetes_dataset.csv").touch()
    assert find_raw(tmp_path, REGISTRY["diabetes"]) == [tmp_path / "diabetes_dataset.csv"]


def test_a_subset_is_labelled():
    counts = {"train": 10_000, "test": 10_000}
    assert subset(REGISTRY["cifar10"], counts) == ["a subset of CIFAR-10 (train 10,000 of 50,000)"]
    assert subset(REGISTRY["cifar10"], {"train": 50_000, "test": 10_000}) == []


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
