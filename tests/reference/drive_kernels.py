"""Every kernel on odd shapes, also as a process under sanitizers: drive_kernels.py <library> <its name> <results.npz>.

Each array is allocated on its own, so that a sanitizer sees a step over its end; only ctypes and numpy are needed.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator

import numpy as np

REALS = {"float": np.float32, "double": np.float64}


def drive_attention(call: Callable, real: type) -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for d in range(1, 9):
        for n, size, causal in ((1, 1, 0), (7, 1, 1), (19, 4, 0), (37, 4, 1), (37, 1, 0)):
            q, k, v = ((size * random.standard_normal((2, 3, d, n))).astype(real) for _ in range(3))
            y = np.zeros_like(q)
            call("attend", q, k, v, y, [3 * d * n, d * n, n] * 4, 2, 3, n, d, causal)
            yield y


def drive_neurons(call: Callable, real: type) -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for T, M, C, fold in ((1, 1, 1, 1), (3, 5, 7, 1), (4, 33, 70, 2), (2, 40, 131, 1)):
        for mode, rate in ((0, 3.0), (1, 0.5), (2, 0.4)):
            y, ds = ((2 * random.standard_normal((T * M, C))).astype(real) for _ in range(2))
            weight, bias, mean, variance = (random.random(C // fold).astype(real) for _ in range(4))
            sums, plain_sums, moments = np.zeros((3, C)), list(np.zeros(C) for _ in range(3)), np.zeros((2, C))
            spikes, dy, factors = np.zeros_like(y), np.zeros_like(y), np.zeros((4, C), real)
            out = np.zeros(2 * (C // fold) + 2 * C, real)
            none = [None] * 4
            call("spikes", y, None, None, spikes, T, M, C, mode, rate, 0.7)
            call("gradient", y, *none, ds, dy, T, M, C, mode, rate, 0.7, 4.0, *plain_sums)
            yield from (spikes.copy(), dy.copy(), *plain_sums)
            statistics = (weight, bias, mean, variance, moments, factors)
            call("forward", y, *statistics, spikes, T, M, C, fold, 1e-5, 0.1, mode, rate, 0.7)
            call("backward", y, factors, ds, dy, sums, out, T, M, C, fold, mode, rate, 0.7, 4.0)
            yield from (mean, variance, moments, factors, spikes, dy, sums, out)


def drive_events(call: Callable, real: type) -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for B, H, W, K, N in ((1, 1, 1, 3, 2), (2, 3, 5, 20, 67), (3, 4, 11, 9, 83)):
        rows = B * H * W
        x = (random.integers(1, 4, (rows, K)) * (random.random((rows, K)) < 0.2)).astype(real)
        counts = np.zeros(rows, np.int64)
        call("count", x, rows, K, counts)
        for picture in ((1, 1, K, 0), (H, W, K, 1)):
            start = np.concatenate([[0], counts.cumsum()])
            entries = (start, np.zeros(start[-1], np.int32), np.zeros(start[-1], real))
            call("compress", x, rows, K, picture[1], *entries)
            columns = (2 * picture[3] + 1) ** 2 * K
            w, bias = random.random((columns, N)).astype(real), random.random(N).astype(real)
            y = np.zeros((rows, N), real)
            call("gather", *entries, w, bias, y, rows, N, *picture)
            call("scatter", *entries, y, w, rows, N, *picture)
            yield from (*entries, y, w)


def drive_banded(call: Callable, real: type) -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for texts, n, heads, d, half, chosen in ((1, 1, 1, 1, 1, []), (2, 37, 3, 5, 4, [0, 36]), (2, 71, 1, 17, 90, [3])):
        q, k, v, by_out = (random.standard_normal((texts, n, heads, d)).astype(real) for _ in range(4))
        columns = 2 * half + 1 + len(chosen)
        hidden = np.zeros((texts, n + len(chosen)), real)
        hidden[:, chosen] = -1e30
        hidden[-1, n // 2 + 1 : n] = -1e30
        sizes = [texts, n, heads, d, half, len(chosen)]
        for gone, gain in ((None, 1.0), ((random.random((texts, heads, n, columns)) < 0.3).astype(np.uint8), 1.4)):
            out, *slopes = (np.zeros_like(q) for _ in range(4))
            inputs = (q, k, v, hidden, chosen, gone)
            call("attend", *inputs, out, sizes, 0.4, gain)
            call("gradient", *inputs, by_out, *slopes, sizes, 0.4, gain)
            yield from (out, *slopes)


DRIVERS = {"attention": drive_attention, "neurons": drive_neurons, "events": drive_events, "banded": drive_banded}


def call_compiled(library: ctypes.CDLL, precision: str, name: str, *arguments) -> None:
    real = ctypes.c_float if precision == "float" else ctypes.c_double

    def convert(argument):
        if argument is None or isinstance(argument, np.ndarray):
            return ctypes.c_void_p(None if argument is None else argument.ctypes.data)
        if isinstance(argument, list):
            return (ctypes.c_long * len(argument))(*argument)
        return ctypes.c_long(argument) if isinstance(argument, int) else real(argument)

    getattr(library, f"{name}_{precision}")(*map(convert, arguments))


def main(file: str, stem: str, results: str) -> None:
    library, found = ctypes.CDLL(file), {}
    for precision, real in REALS.items():

        def call(name, *arguments, precision=precision):
            call_compiled(library, precision, name, *arguments)

        for number, array in enumerate(DRIVERS[stem](call, real)):
            found[f"{precision} {number}"] = array
    np.savez(results, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
