"""The neuron kernels, compiled on first use where there is a C compiler; everything works without one, only slower."""

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch

from clusterlens.files import digest, replacing
from clusterlens.logs import log
from clusterlens.models.kernel_source import source

FLAGS = (
    "-O3",
    "-march=native",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-pre",
    "-fPIC",
    "-fopenmp",
)
NAMES = {torch.float32: "float", torch.float64: "double"}


@cache
def load() -> ctypes.CDLL | None:
    """The compiled kernels, or None where they cannot be had."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        log.info("no C compiler: neurons run on spikingjelly's own code")
        return None
    unit, problem = source(), None
    for folder in cache_folders():
        library = folder / f"neurons-{digest([unit, FLAGS, machine()])[:16]}.so"
        try:
            share_threads_with_torch()
            if not library.exists():
                build(compiler, unit, library)
            return ctypes.CDLL(str(library))
        except (OSError, subprocess.CalledProcessError) as error:
            problem = error
    log.info("neuron kernels not compiled (%s): neurons run on spikingjelly's own code", problem)
    return None


def build(compiler: str, unit: str, library: Path) -> None:
    """Compile with OpenMP calls, but link no OpenMP library: torch's own, already loaded, answers them."""
    with replacing(library) as target, tempfile.TemporaryDirectory() as work:
        text, objects = Path(work) / "neurons.c", Path(work) / "neurons.o"
        text.write_text(unit, encoding="utf-8")
        subprocess.run([compiler, *FLAGS, "-c", str(text), "-o", str(objects)], check=True, capture_output=True)
        subprocess.run([compiler, "-shared", str(objects), "-o", str(target), "-lm"], check=True, capture_output=True)


def share_threads_with_torch() -> None:
    """Make torch's OpenMP symbols visible, so that the kernels use its threads instead of a second set of them."""
    bundled = sorted(Path(torch.__file__).parent.glob("lib/libgomp*")) + sorted(
        Path(torch.__file__).parent.parent.glob("torch.libs/libgomp*")
    )
    ctypes.CDLL(str(bundled[0]) if bundled else "libgomp.so.1", mode=ctypes.RTLD_GLOBAL)


def cache_folders() -> Iterator[Path]:
    """The user's cache and, where that cannot be used, a temporary folder of this process alone."""
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clusterlens"
    with tempfile.TemporaryDirectory(prefix="clusterlens-") as folder:
        yield Path(folder)


def machine() -> str:
    """What `-march=native` depends on: a shared home may be used by processors of several kinds."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return platform.machine() + next((line for line in lines if line.startswith(("flags", "Features"))), "")


def call(name: str, dtype: torch.dtype, *arguments, mode: str = "") -> None:
    """Call a kernel: tensors go as pointers, None as a null pointer, integers as long, floats in the tensors' type."""
    real = ctypes.c_float if dtype == torch.float32 else ctypes.c_double
    getattr(load(), f"{name}_{NAMES[dtype]}{mode}")(*(convert(argument, real) for argument in arguments))


def convert(argument, real):
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if argument is None:
        return ctypes.c_void_p(None)
    return ctypes.c_long(argument) if isinstance(argument, int) else real(argument)


def usable(x: torch.Tensor) -> bool:
    """Whether the kernels take this tensor: on the CPU, in single or double precision, compiled."""
    return x.device.type == "cpu" and x.dtype in NAMES and load() is not None
