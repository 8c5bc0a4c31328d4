"""The process in which a user's function runs: `python -m clusterlens.attention.user_process <file> <descriptor>`.

Whatever the function does (exit, crash, change folder, never return) ends here and not in the diagnosis. A request is a
word and an array; the answer is `FINE` and a payload, or `WRONG` and one line. Torch is loaded only if the file does.
"""

import io
import json
import os
import runpy
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from clusterlens.attention.profiling import peak_memory, seconds

APPLY, COST = b"apply", b"cost"
FINE, WRONG = b"+", b"-"


class Broken(Exception):
    """What is wrong with a user's function, in one line."""


def load(path: str) -> Callable:
    """The function `attention` of a Python file; modules in the same folder can be imported."""
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        names = runpy.run_path(path, run_name="own_attention")
    except (Exception, SystemExit) as error:
        raise Broken(f"{Path(path).name} could not be loaded: {one_line(error)}") from None
    function = names.get("attention")
    if not callable(function):
        raise Broken(f"{Path(path).name} has no function 'attention': define attention(x) -> z")
    return function


def apply(function: Callable, x: np.ndarray) -> np.ndarray:
    """attention(x) as an array of numbers; the function may change the copy that it is given."""
    try:
        answer = function(x.copy())
    except (Exception, SystemExit) as error:
        hint = " (x is a NumPy array: torch.as_tensor(x) makes a tensor of it)" if "Tensor" in str(error) else ""
        raise Broken(f"attention(x) stopped with {one_line(error)}{hint}") from None
    try:
        return np.asarray(answer.detach().cpu() if hasattr(answer, "detach") else answer, dtype=float)
    except (TypeError, ValueError):
        raise Broken(f"attention(x) gave {type(answer).__name__}, but an array of numbers is needed") from None


def cost(function: Callable, x: np.ndarray) -> dict[str, float]:
    """Seconds and peak bytes of one application."""

    def call() -> object:
        return function(x.copy())

    return {"seconds": seconds(call), "bytes": float(peak_memory(call))}


def one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__


def pack(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def unpack(payload: bytes) -> np.ndarray:
    return np.load(io.BytesIO(payload), allow_pickle=False)


def answer(work: Callable[[], bytes]) -> bytes:
    try:
        return FINE + work()
    except Broken as error:
        return WRONG + str(error).encode()


def end_with(parent: int) -> None:
    """Leave no process behind when the diagnosis is killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def serve(path: str, channel: Connection) -> None:
    """Load the file, then answer requests until the other side closes."""
    functions: list[Callable] = []

    def loading() -> bytes:
        functions.append(load(path))
        return b""

    channel.send_bytes(FINE)  # Python is up: the time limit runs from here
    channel.send_bytes(answer(loading))
    while functions:
        try:
            word, x = channel.recv_bytes(), unpack(channel.recv_bytes())
        except EOFError:
            return
        work = applied if word == APPLY else costed
        channel.send_bytes(answer(partial(work, functions[0], x)))


def applied(function: Callable, x: np.ndarray) -> bytes:
    return pack(apply(function, x))


def costed(function: Callable, x: np.ndarray) -> bytes:
    return json.dumps(cost(function, x)).encode()


if __name__ == "__main__":
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    serve(sys.argv[1], Connection(int(sys.argv[2])))
