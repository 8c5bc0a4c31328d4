"""C kernels, compiled on first use where there is a C compiler; everything works without one, only slower."""

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import torch

from clusterlens.files import digest, replacing
from clusterlens.logs import log

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-fopenmp")
NAMES = {torch.float32: "float", torch.float64: "double"}
INTEGERS = {"float": "int", "double": "long"}  # of the same size

# Vectors in C, for `in_precision`; `anywhere` may lie at the address of any element of an array, but is slower to use.
VECTORS = r"""
typedef REAL vector_REAL __attribute__((vector_size(32)));
typedef REAL anywhere_REAL __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
typedef INTEGER bits_REAL __attribute__((vector_size(32)));
enum { LANES_REAL = 32 / sizeof(REAL) };

static inline vector_REAL select_REAL(bits_REAL mask, vector_REAL yes, vector_REAL no) {
    return (vector_REAL)((mask & (bits_REAL)yes) | (~mask & (bits_REAL)no));
}
"""


def in_precision(text: str, real: str) -> str:
    """C source written for REAL and the INTEGER of its size, in one precision."""
    return text.replace("REAL", real).replace("INTEGER", INTEGERS[real])


class Library:
    """One unit of C source whose functions are named after their precision, such as `attend_float`."""

    def __init__(self, name: str, source: Callable[[], str], *, flags: tuple[str, ...], otherwise: str):
        self.name, self.source, self.flags, self.otherwise = name, source, (*FLAGS, *flags), otherwise

    @cached_property
    def handle(self) -> ctypes.CDLL | None:
        """The compiled kernels, or None where they cannot be had."""
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            log.info("no C compiler: %s", self.otherwise)
            return None
        unit, problem = self.source(), None
        for folder in cache_folders():
            library = folder / f"{self.name}-{digest([unit, self.flags, machine()])[:16]}.so"
            try:
                share_threads_with_torch()
                if not library.exists():
                    build(compiler, self.flags, unit, library)
                return ctypes.CDLL(str(library))
            except (OSError, subprocess.CalledProcessError) as error:
                problem = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip() or error
        log.info("%s kernels not compiled (%s): %s", self.name, problem, self.otherwise)
        return None

    def usable(self, x: torch.Tensor) -> bool:
        """Whether the kernels take this tensor: on the CPU, in single or double precision, compiled."""
        return x.device.type == "cpu" and x.dtype in NAMES and self.handle is not None

    def call(self, name: str, dtype: torch.dtype, *arguments, mode: str = "") -> None:
        """Call a kernel: tensors go as pointers, None as a null pointer, integers as long, lists as arrays of them,
        floats in that precision."""
        real = ctypes.c_float if dtype == torch.float32 else ctypes.c_double
        kernel = getattr(self.handle, f"{name}_{NAMES[dtype]}{mode}")
        kernel(*(convert(argument, real) for argument in arguments))


def build(compiler: str, flags: tuple[str, ...], unit: str, library: Path) -> None:
    """Compile with OpenMP calls, but link no OpenMP library: torch's own, already loaded, answers them."""
    with replacing(library) as target, tempfile.TemporaryDirectory() as work:
        text, objects = Path(work) / "unit.c", Path(work) / "unit.o"
        text.write_text(unit, encoding="utf-8")
        subprocess.run([compiler, *flags, "-c", str(text), "-o", str(objects)], check=True, capture_output=True)
        subprocess.run([compiler, "-shared", str(objects), "-o", str(target), "-lm"], check=True, capture_output=True)


def share_threads_with_torch() -> None:
    """Make torch's OpenMP symbols visible, so that the kernels use its threads instead of a second set of them."""
    bundled = sorted(Path(torch.__file__).parent.glob("lib/libgomp*")) + sorted(
        Path(torch.__file__).parent.parent.glob("torch.libs/libgomp*")
    )
    ctypes.CDLL(str(bundled[0]) if bundled else "libgomp.so.1", mode=ctypes.RTLD_GLOBAL)


def cache_folders() -> Iterator[Path]:
    """The user's cache and, where that cannot be used, a temporary folder of this process alone."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not cache.startswith("~"):  # a user without a home keeps the tilde
        yield Path(cache) / "clusterlens"
    with tempfile.TemporaryDirectory(prefix="clusterlens-") as folder:
        yield Path(folder)


def machine() -> str:
    """What `-march=native` depends on: a shared home may be used by processors of several kinds."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return platform.machine() + next((line for line in lines if line.startswith(("flags", "Features"))), "")


def convert(argument, real):
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if argument is None:
        return ctypes.c_void_p(None)
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return (ctypes.c_long * len(argument))(*argument) if isinstance(argument, list) else real(argument)
