"""C kernels, compiled on first use where there is a C compiler; everything works without one, only slower."""

import ctypes
import re
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path

import torch

from clusterlens.cache import cache_folders, machine
from clusterlens.files import digest, replacing, sha256
from clusterlens.logs import log

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-fopenmp")
NAMES = {torch.float32: "float", torch.float64: "double"}


class Library:
    """One C file, compiled once per precision; its functions are named after that, such as `attend_float`."""

    def __init__(self, source: Path, *, flags: tuple[str, ...], otherwise: str):
        self.source, self.flags, self.otherwise = source, (*FLAGS, *flags), otherwise

    @cached_property
    def key(self) -> str:
        """Tells compiled kernels apart: by source, flags and processor."""
        return digest([[sha256(file) for file in with_headers(self.source)], self.flags, machine()])

    @cached_property
    def handle(self) -> ctypes.CDLL | None:
        """The compiled kernels, or None where they cannot be had."""
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            log.info("no C compiler: %s", self.otherwise)
            return None
        problem: object = None
        for folder in cache_folders():
            try:
                library = folder / f"{self.source.stem}-{self.key[:16]}.so"
                share_threads_with_torch()
                if not library.exists():
                    build(compiler, self.flags, self.source, library)
                return ctypes.CDLL(str(library))
            except (OSError, subprocess.CalledProcessError) as error:
                problem = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip() or error
        log.info("%s not compiled (%s): %s", self.source.name, problem, self.otherwise)
        return None

    def usable(self, x: torch.Tensor) -> bool:
        """Whether the kernels take this tensor: on the CPU, in single or double precision, compiled."""
        return x.device.type == "cpu" and x.dtype in NAMES and self.handle is not None

    def call(self, name: str, dtype: torch.dtype, *arguments) -> None:
        """Call a kernel: tensors go as pointers, None as a null pointer, integers as long, lists as arrays of them,
        floats in that precision."""
        real = ctypes.c_float if dtype == torch.float32 else ctypes.c_double
        kernel = getattr(self.handle, f"{name}_{NAMES[dtype]}")
        kernel(*(convert(argument, real) for argument in arguments))


def with_headers(source: Path) -> list[Path]:
    """A C file and the files that its `#include "..."` lines name, directly or through one another."""
    names = re.findall(r'^#include "(.+)"', source.read_text(encoding="utf-8"), re.MULTILINE)
    return [source, *(file for name in names for file in with_headers(source.parent / name))]


def build(compiler: str, flags: tuple[str, ...], source: Path, library: Path) -> None:
    """Compile with OpenMP calls, but link no OpenMP library: torch's own, already loaded, answers them."""
    with replacing(library) as target, tempfile.TemporaryDirectory() as work:
        objects = {name: f"{work}/{name}.o" for name in NAMES.values()}
        for name, file in objects.items():
            command = [compiler, *flags, f"-D{name.upper()}", "-c", str(source), "-o", file]
            subprocess.run(command, check=True, capture_output=True)
        command = [compiler, "-shared", *objects.values(), "-o", str(target), "-lm"]
        subprocess.run(command, check=True, capture_output=True)


def share_threads_with_torch() -> None:
    """Make torch's OpenMP symbols visible, so that the kernels use its threads instead of a second set of them."""
    bundled = sorted(Path(torch.__file__).parent.glob("lib/libgomp*")) + sorted(
        Path(torch.__file__).parent.parent.glob("torch.libs/libgomp*")
    )
    ctypes.CDLL(str(bundled[0]) if bundled else "libgomp.so.1", mode=ctypes.RTLD_GLOBAL)


def convert(argument, real):
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if argument is None:
        return ctypes.c_void_p(None)
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return (ctypes.c_long * len(argument))(*argument) if isinstance(argument, list) else real(argument)
