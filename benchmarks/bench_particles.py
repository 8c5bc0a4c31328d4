"""The particle engine against bare kernels: run by `make bench`, prints ratios and writes results/particles.csv."""

import csv
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch.nn.functional import scaled_dot_product_attention

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from clusterlens.particles.settings import Settings  # noqa: E402
from clusterlens.particles.simulate import simulate  # noqa: E402

REPEATS = 7


def fastest(call, repeats: int = REPEATS) -> float:
    """Seconds of the fastest of several calls, after one that warms up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def step_ratio() -> tuple[float, str]:
    """One Euler step of n = 4096, d = 3 in single precision over one bare attention call of that size."""
    short = Settings(tokens=4096, time=0.1, step=0.1)
    long = replace(short, time=1.1)
    x = simulate(short, dtype="float32").positions[-1][:, None]

    def bare():
        with torch.inference_mode():
            scaled_dot_product_attention(x, x, x, scale=1.0)

    attention = fastest(bare)
    step = (fastest(lambda: simulate(long, dtype="float32")) - fastest(lambda: simulate(short, dtype="float32"))) / 10
    return step / attention, f"{1e3 * step:.1f} ms a step, {1e3 * attention:.1f} ms bare"


def batch_ratio(dtype: str) -> tuple[float, str]:
    """64 systems of n = 64 one after the other, over the same as one batch; the two take turns, the fastest counts."""
    settings = Settings(tokens=64, time=15.0, seeds=tuple(range(64)))

    def together():
        simulate(settings, dtype=dtype, every=150)

    def apart():
        for seed in settings.seeds:
            simulate(replace(settings, seeds=(seed,)), dtype=dtype, every=150)

    turns = [(fastest(together, repeats=1), fastest(apart, repeats=1)) for _ in range(REPEATS)]
    whole, single = map(min, zip(*turns, strict=True))
    return single / whole, f"{1e3 * single:.0f} ms apart, {1e3 * whole:.0f} ms together"


def large_memory() -> tuple[float, str]:
    """Peak memory in GB of one step at n = 65,536, beyond the interpreter and the trajectory, in its own process."""
    worker = [sys.executable, __file__, "--memory"]
    done = subprocess.run(worker, capture_output=True, text=True, check=True)
    gigabytes, seconds = map(float, done.stdout.split())
    return gigabytes, f"one step in {seconds:.1f} s"


def measure_memory() -> None:
    """Run by `large_memory`: the growth of this process's peak over a small run of the same kind."""
    simulate(Settings(tokens=256, time=0.1), dtype="float32")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    run = simulate(Settings(tokens=65_536, time=0.1), dtype="float32")
    seconds = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 - run.positions.nbytes
    print(grown / 1e9, seconds)


def main() -> None:
    rows = []
    for name, target, holds, measure in (
        ("step at n=4096 over bare attention", 1.5, float.__le__, step_ratio),
        ("peak GB beyond the trajectory at n=65536", 1.0, float.__le__, large_memory),
        ("64 systems apart over together, float32", 20.0, float.__ge__, lambda: batch_ratio("float32")),
        ("64 systems apart over together, float64", 20.0, float.__ge__, lambda: batch_ratio("float64")),
    ):
        value, detail = measure()
        rows.append(
            {"measure": name, "value": round(value, 3), "target": target, "met": holds(value, target), "detail": detail}
        )
        print(
            "{measure:45s} {value:8.2f}  target {target:5.1f}  met {met!s:5}  {detail}".format(**rows[-1]), flush=True
        )
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    with (folder / "particles.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    measure_memory() if "--memory" in sys.argv else main()
