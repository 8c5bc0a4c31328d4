"""C kernels: compiled once, shared by processes, and no error where they cannot be had."""

import shutil

import pytest
import torch

from clusterlens.native import Library

SOURCE = """
void scale_float(float *x, long n, float by) { for (long i = 0; i < n; i++) x[i] *= by; }
void total_double(const double *x, const long *which, long n, double *out) {
    for (long i = 0; i < n; i++) *out += x ? x[which[i]] : 1;
}
"""


def library(source=SOURCE, flags=()):
    return Library("trial", lambda: source, flags=flags, otherwise="torch does it")


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "clusterlens"


def test_kernels_take_tensors_numbers_lists_and_nothing():
    kernels = library()
    assert kernels.handle is not None, "nothing compiled: set-up asks for gcc"
    x = torch.arange(4.0)
    kernels.call("scale", x.dtype, x, 4, 2.5)
    assert x.tolist() == [0, 2.5, 5, 7.5]
    values, out = torch.tensor([1.0, 10, 100], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    kernels.call("total", values.dtype, values, [2, 0], 2, out)
    assert out.item() == 101
    kernels.call("total", values.dtype, None, [0, 0], 2, out)
    assert out.item() == 103


def test_a_second_process_finds_what_the_first_compiled(empty_cache, monkeypatch):
    assert library().handle is not None
    (built,) = empty_cache.glob("trial-*.so")
    before = built.stat().st_mtime_ns
    assert library().handle is not None and built.stat().st_mtime_ns == before
    assert library(SOURCE + "int other;").handle is not None
    assert len(list(empty_cache.glob("*.so"))) == 2


def test_usable_wants_a_cpu_and_a_real_precision(monkeypatch):
    kernels = library()
    assert kernels.usable(torch.ones(1)) and kernels.usable(torch.ones(1, dtype=torch.float64))
    assert not kernels.usable(torch.ones(1, dtype=torch.float16))
    assert not kernels.usable(torch.ones(1, device="meta"))


def test_no_compiler_is_no_error(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    kernels = library()
    assert kernels.handle is None and not kernels.usable(torch.ones(1))


@pytest.mark.parametrize("broken", [{"flags": ("-no-such-flag",)}, {"source": "no C"}])
def test_a_compiler_that_fails_is_no_error_and_leaves_nothing(broken, empty_cache):
    assert library(**broken).handle is None
    assert not list(empty_cache.glob("*"))


def test_a_user_without_a_home_is_no_error(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert library().handle is not None
    assert not list(tmp_path.iterdir())


def test_a_cache_that_cannot_be_written_is_no_error(empty_cache):
    empty_cache.write_text("a file where the folder should be")
    assert library().handle is not None
