"""The C files: no warning of the compiler, and nothing that the address or undefined-behaviour sanitizers object to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from clusterlens import native
from clusterlens.models import banded, events, neurons
from clusterlens.particles import softmax
from reference import drive_kernels

LIBRARIES = [module.KERNELS for module in (softmax, neurons, events, banded)]
COMPILER = shutil.which("cc") or shutil.which("gcc")
# Without AVX the compiler notes how vectors are passed, which concerns no one: they stay within the file.
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-psabi")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1", "-O0")


def runtime(name: str) -> Path:
    """A sanitizer's library, which must be in the process before Python; a bare name where there is none."""
    command = [COMPILER or "cc", f"-print-file-name={name}"]
    return Path(subprocess.run(command, capture_output=True, text=True).stdout.strip() if COMPILER else name)


RUNTIMES = [runtime("libasan.so"), runtime("libubsan.so")]
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
sanitized = pytest.mark.skipif(not all(map(Path.is_absolute, RUNTIMES)), reason="the compiler has no sanitizers")


def drive_sanitized(source: Path, flags: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess:
    """Call every kernel of a C file in a process of its own; results go to folder/results.npz."""
    flags = (*(flag for flag in flags if flag != "-fopenmp"), *SANITIZERS)
    native.build(COMPILER, flags, source, folder / "sanitized.so")
    return subprocess.run(
        [sys.executable, drive_kernels.__file__, folder / "sanitized.so", source.stem, folder / "results.npz"],
        env=os.environ | {"LD_PRELOAD": " ".join(map(str, RUNTIMES)), "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
    )


def test_every_c_file_is_here():
    assert sorted(kernels.source for kernels in LIBRARIES) == sorted(Path(native.__file__).parent.rglob("*.c"))


@pytest.mark.parametrize("precision", native.NAMES.values())
@pytest.mark.parametrize("kernels", LIBRARIES, ids=lambda kernels: kernels.source.name)
def test_the_compiler_has_nothing_to_warn_of(kernels, precision, tmp_path):
    flags = (*kernels.flags, *WARNINGS, f"-D{precision.upper()}")
    command = [COMPILER, *flags, "-c", str(kernels.source), "-o", str(tmp_path / "unit.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@sanitized
@pytest.mark.parametrize("kernels", LIBRARIES, ids=lambda kernels: kernels.source.name)
def test_sanitizers_find_nothing_and_results_stay(kernels, tmp_path):
    done = drive_sanitized(kernels.source, kernels.flags, tmp_path)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "results.npz")
    drive, compared = drive_kernels.DRIVERS[kernels.source.stem], 0
    for dtype, precision in native.NAMES.items():

        def call(name, *arguments, dtype=dtype):
            tensors = (torch.from_numpy(part) if isinstance(part, np.ndarray) else part for part in arguments)
            kernels.call(name, dtype, *tensors)

        # some files may fuse a product and a sum, which rounds otherwise; where, is the compiler's choice
        tolerance = 0.0 if "-ffp-contract=off" in kernels.flags else 1000 * torch.finfo(dtype).eps
        for number, wanted in enumerate(drive(call, drive_kernels.REALS[precision])):
            got = found[f"{precision} {number}"]
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(initial=0))
            compared += 1
    assert compared == len(found.files) > 0


@sanitized
@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("k < K; k++) n +=", "k <= K; k++) n +=", "heap-buffer-overflow"),
        ("int n = 0;", "int n = 0 * (1 << (K + 29));", "shift exponent"),
    ],
)
def test_sanitizers_see_a_step_over_the_end_and_an_undefined_shift(right, wrong, complaint, tmp_path):
    shutil.copy(Path(native.__file__).with_name("native.h"), tmp_path)
    text = events.KERNELS.source.read_text()
    assert text.count(right) == 1
    broken = tmp_path / "models" / "events.c"
    broken.parent.mkdir()
    broken.write_text(text.replace(right, wrong))
    done = drive_sanitized(broken, events.KERNELS.flags, tmp_path)
    assert done.returncode != 0 and complaint in done.stderr and "events.c:" in done.stderr
