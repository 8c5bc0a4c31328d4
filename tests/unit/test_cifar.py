"""Archives and batches: the real layout is read, everything else is refused without being run or written."""

import io
import os
import pickle
import tarfile

import numpy as np
import pytest

from clusterlens.data.cifar import read_archive
from clusterlens.errors import UserError

NAMES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def batch(seed, rows=3):
    generator = np.random.default_rng(seed)
    return {b"data": generator.integers(0, 256, (rows, 3072), dtype=np.uint8), b"labels": [seed, 1, 2][:rows]}


def archive(path, members, *, extra=()):
    with tarfile.open(path, "w:gz") as tar:
        for info in extra:
            tar.addfile(info)
        for name, data in members.items():
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def good(**changed):
    members = {name: pickle.dumps(batch(seed), protocol=2) for seed, name in enumerate(NAMES)}
    return members | changed


def special(name, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def refused(path):
    with pytest.raises(UserError) as caught:
        read_archive(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_pixels_and_labels(tmp_path):
    arrays = read_archive(archive(tmp_path / "a.tar.gz", good()))
    assert arrays["train_x"].shape == (15, 32, 32, 3) and arrays["train_x"].dtype == np.uint8
    assert arrays["test_x"].shape == (3, 32, 32, 3)
    assert arrays["train_y"].tolist() == [label for seed in range(5) for label in (seed, 1, 2)]
    # A row holds all red values, then all green, then all blue, each image row by image row.
    row = batch(1)[b"data"][2]
    pixel = arrays["train_x"][3 + 2, 4, 7]
    assert pixel.tolist() == [row[4 * 32 + 7], row[1024 + 4 * 32 + 7], row[2048 + 4 * 32 + 7]]


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/evil"])
def test_member_that_climbs_out(tmp_path, name):
    folder = tmp_path / "inner"
    folder.mkdir()
    path = archive(folder / "a.tar.gz", good(), extra=[tarfile.TarInfo(name)])
    assert "climbs out of its folder" in refused(path)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["a.tar.gz"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices(tmp_path, kind):
    path = archive(tmp_path / "a.tar.gz", good(), extra=[special("data_batch_1", kind)])
    assert "link or a device" in refused(path)


def test_truncated_archive(tmp_path):
    path = archive(tmp_path / "a.tar.gz", good())
    path.write_bytes(path.read_bytes()[:5000])
    assert "not a whole tar archive" in refused(path)


def test_missing_batch(tmp_path):
    members = good()
    del members["data_batch_4"]
    assert "no member data_batch_4" in refused(archive(tmp_path / "a.tar.gz", members))


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickle_that_would_run_something(tmp_path, protocol):
    trap = tmp_path / "trap"
    data = pickle.dumps({b"data": Malicious(str(trap)), b"labels": [0]}, protocol=protocol)
    message = refused(archive(tmp_path / "a.tar.gz", good(data_batch_2=data)))
    assert "data_batch_2" in message and "mkdir" in message
    assert not trap.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"no pickle",
        pickle.dumps([1, 2], protocol=2),
        pickle.dumps({b"data": np.zeros((2, 3072)), b"labels": [0, 1]}, protocol=2),
        pickle.dumps({b"data": np.zeros((2, 30), np.uint8), b"labels": [0, 1]}, protocol=2),
        pickle.dumps({b"data": np.zeros((2, 3072), np.uint8), b"labels": [0]}, protocol=2),
    ],
)
def test_not_a_batch(tmp_path, content):
    assert "not a CIFAR-10 batch" in refused(archive(tmp_path / "a.tar.gz", good(test_batch=content)))


def test_registry_agrees_with_torchvision():
    from pathlib import Path

    import yaml
    from torchvision.datasets import CIFAR10

    registry = yaml.safe_load((Path(__file__).parents[2] / "config" / "datasets.yaml").read_text())
    assert registry["cifar10"]["torchvision"] == {"url": CIFAR10.url, "checksum": f"md5:{CIFAR10.tgz_md5}"}
