"""One training step of Spikformer and of ViT on a CPU against plain references: time and peak memory.

At the size of S Table 4 with batches of 16, and a small Spikformer with batches of 64 on one thread.

Each contestant lives in a process of its own, so that its memory can be measured, and they take turns step by step, so
that whatever else the machine does hits both; the smallest time of each counts. Usage: bench_training.py [repeats]
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "tests")]
SMALL = {"embedding_dimension": 128, "depth": 4, "heads": 4}
PAIRS = {
    # what: (ours, reference, at least so many times faster)
    "Spikformer step": ("spikformer", "plain_spikformer", 2.0),
    "Small Spikformer step, one thread": ("small_spikformer", "small_plain_spikformer", 2.0),
    "ViT step": ("vit", "timm_vit", 1.0),  # timm's own blocks: equal but for noise
}


def make(contestant: str):
    """A model and its input; both sides of a pair start from the same seed."""
    import torch

    from clusterlens.schema import read_yaml

    architecture = read_yaml(ROOT / "config" / "config.yaml")["architecture"]
    batch = 16
    if contestant.startswith("small_"):
        torch.set_num_threads(1)
        architecture, batch = architecture | SMALL, 64
        contestant = contestant.removeprefix("small_")
    torch.manual_seed(0)
    images, labels = torch.randn(batch, 3, 32, 32), torch.randint(0, 10, (batch,))
    if contestant == "plain_spikformer":
        from reference.spikformer import PlainSpikformer

        return PlainSpikformer(architecture), images, labels
    if contestant == "timm_vit":
        from timm.models import VisionTransformer

        options = {"img_size": 32, "patch_size": 4, "num_classes": 10, "embed_dim": 384, "depth": 12, "num_heads": 6}
        return VisionTransformer(**options), images, labels
    from clusterlens.devices import keep_freed_memory
    from clusterlens.models.image_models import build

    keep_freed_memory()  # as rule train_model does
    return build(contestant, architecture), images, labels


def serve(contestant: str) -> None:
    """One forward and backward pass per line of input; answers wall seconds, CPU seconds and peak bytes so far."""
    from torch.nn.functional import cross_entropy

    model, images, labels = make(contestant)
    model.train()
    for _ in sys.stdin:
        model.zero_grad(set_to_none=True)
        wall, cpu = time.perf_counter(), time.process_time()
        cross_entropy(model(images), labels).backward()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(wall, cpu, peak, flush=True)


def measure(contestants: tuple[str, ...], repeats: int) -> dict[str, tuple[float, float, float]]:
    """Smallest wall and CPU seconds of a step, and peak memory, after one step that is not counted."""
    command = [sys.executable, __file__, "--serve"]
    jobs = {
        name: subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )
        for name in contestants
    }
    steps = {name: [] for name in contestants}
    for _ in range(repeats + 1):
        for name, job in jobs.items():
            job.stdin.write("\n")
            job.stdin.flush()
            steps[name].append([float(value) for value in job.stdout.readline().split()])
    for job in jobs.values():
        job.stdin.close()
        job.wait()
    return {
        name: (min(r[0] for r in rows[1:]), min(r[1] for r in rows[1:]), rows[-1][2]) for name, rows in steps.items()
    }


def main(repeats: int) -> None:
    import pandas as pd

    from clusterlens.data.formats import write_csv

    rows = []
    for what, (ours, reference, target) in PAIRS.items():
        found = measure((ours, reference), repeats)
        for column, (label, unit) in enumerate((("wall", "s"), ("CPU", "s"), ("memory", "bytes"))):
            mine, theirs = found[ours][column], found[reference][column]
            least = 1.0 if label == "memory" else target
            rows.append((f"{what}, {label} ({unit})", mine, theirs, round(theirs / mine, 2), least))
    table = pd.DataFrame(rows, columns=["what", "ours", "reference", "reference / ours", "target at least"])
    print(table.to_string(index=False))
    write_csv(ROOT / "benchmarks" / "results" / "training.csv", table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
