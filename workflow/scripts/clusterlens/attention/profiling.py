"""Measured cost of one application of attention: seconds, and the memory it takes beyond its input."""

import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

AT_LEAST = 0.05  # seconds of measuring, so that a call of microseconds is timed many times
MOST = 200


def peak_memory(call: Callable[[], object]) -> int:
    """Bytes at the fullest moment of a call, of torch tensors and of what Python and NumPy allocate.

    Scratch space inside a torch kernel is not seen. The first call loads what the others need.
    """
    call()
    tensors = 0
    if "torch" in sys.modules:
        from clusterlens.attention.live_tensors import LiveTensors

        with LiveTensors() as live:
            call()
        tensors = live.peak
    tracemalloc.start()
    try:
        kept = call()
        python = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del kept
    return max(tensors, python)


def seconds(call: Callable[[], object], *, repeats: int = 5) -> float:
    """The median of several runs after one that warms up."""
    call()
    times: list[float] = []
    while len(times) < repeats or (sum(times) < AT_LEAST and len(times) < MOST):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)
