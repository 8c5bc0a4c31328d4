"""C kernels: compiled once, shared by processes, and no error where they cannot be had."""

import shutil

import pytest
import torch

from clusterlens.native import Library

SOURCE = """
#ifdef DOUBLE
void total_double(const double *x, const long *which, long n, double *out) {
    for (long i = 0; i < n; i++) *out += x ? x[which[i]] : 1;
}
#else
void scale_float(float *x, long n, float by) { for (long i = 0; i < n; i++) x[i] *= by; }
#endif
"""


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "clusterlens"


@pytest.fixture
def library(tmp_path):
    """A library of C text, which lies in `trial.c`."""

    def make(text=SOURCE, flags=()):
        (tmp_path / "trial.c").write_text(text)
        return Library(tmp_path / "trial.c", flags=flags, otherwise="torch does it")

    return make


def test_kernels_take_tensors_numbers_lists_and_nothing(library):
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


def test_a_second_process_finds_what_the_first_compiled(library, empty_cache):
    assert library().handle is not None
    (built,) = empty_cache.glob("trial-*.so")
    before = built.stat().st_mtime_ns
    assert library().handle is not None and built.stat().st_mtime_ns == before
    assert library(SOURCE + "/* another */").handle is not None
    assert len(list(empty_cache.glob("*.so"))) == 2


def test_a_changed_header_is_compiled_anew(library, tmp_path):
    (tmp_path / "outer.h").write_text('#include "inner.h"\n')
    text, x = '#include "outer.h"\n#ifndef DOUBLE\nvoid set_float(float *x) { *x = VALUE; }\n#endif\n', torch.zeros(1)
    for value in (3, 4):
        (tmp_path / "inner.h").write_text(f"#define VALUE {value}\n")
        library(text).call("set", x.dtype, x)
        assert x.item() == value


def test_usable_wants_a_cpu_and_a_real_precision(library):
    kernels = library()
    assert kernels.usable(torch.ones(1)) and kernels.usable(torch.ones(1, dtype=torch.float64))
    assert not kernels.usable(torch.ones(1, dtype=torch.float16))
    assert not kernels.usable(torch.ones(1, device="meta"))


def test_no_compiler_is_no_error(library, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    kernels = library()
    assert kernels.handle is None and not kernels.usable(torch.ones(1))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"flags": ("-no-such-flag",)}, "no-such-flag"),
        ({"text": SOURCE + "\nno C\n"}, "trial.c:10:"),
        ({"text": '#include "gone.h"\n'}, "gone.h"),
    ],
)
def test_a_compiler_that_fails_is_no_error_says_where_and_leaves_nothing(broken, message, library, empty_cache, caplog):
    kernels = library(**broken)
    with caplog.at_level("INFO", "clusterlens"):
        assert not kernels.usable(torch.ones(1))
    (record,) = caplog.records
    assert record.getMessage().startswith("trial.c not compiled") and message in record.getMessage()
    assert record.getMessage().endswith("torch does it")
    assert not list(empty_cache.glob("*"))


def test_a_user_without_a_home_is_no_error(library, monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert library().handle is not None
    assert [file.name for file in sorted(tmp_path.rglob("*"))] == ["here", "trial.c"]


def test_a_cache_that_cannot_be_written_is_no_error(library, empty_cache):
    empty_cache.parent.mkdir()
    empty_cache.write_text("a file where the folder should be")
    assert library().handle is not None
