"""Attention kernels against references in the same run: bare SDPA and Hugging Face's Longformer.

Run by `make bench`, or `python benchmarks/bench_attention.py`; writes benchmarks/results/attention.csv.
"""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from clusterlens.attention.dense import global_attention  # noqa: E402
from clusterlens.attention.hybrid import longformer  # noqa: E402
from clusterlens.attention.profiling import seconds  # noqa: E402

WINDOW = 512


class Copy(nn.Module):
    """A projection that changes nothing and shares no memory."""

    def forward(self, x):
        return x.clone()


def hugging_face(x: torch.Tensor, token: int):
    """LongformerSelfAttention without learned projections on x (1, n, d), as a call."""
    from transformers import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

    config = LongformerConfig(hidden_size=x.shape[-1], num_attention_heads=1, attention_window=[WINDOW])
    layer = LongformerSelfAttention(config, layer_id=0).eval()
    for name in ("query", "key", "value", "query_global", "key_global", "value_global"):
        setattr(layer, name, Copy())
    mask = torch.zeros(x.shape[:2])
    mask[:, token] = 10000.0
    given = {
        "attention_mask": mask,
        "is_index_masked": mask < 0,
        "is_index_global_attn": mask > 0,
        "is_global_attn": True,
    }
    return lambda: layer(x, **given)[0]


def ours(x: torch.Tensor, token: int):
    return lambda: longformer(x, x, x, scale=x.shape[-1] ** -0.5, window=WINDOW, global_tokens=[token])


def bench_global() -> list[dict]:
    x = torch.randn(4096, 3)
    bare = x[None, None]
    times = [
        (
            seconds(lambda: global_attention(x, x, x, scale=3**-0.5), repeats=5),
            seconds(lambda: scaled_dot_product_attention(bare, bare, bare), repeats=5),
        )
        for _ in range(3)
    ]
    best, reference = (min(column) for column in zip(*times, strict=True))
    return [line("global, n = 4096: time over bare SDPA", best / reference, "<= 1.5", best / reference <= 1.5)]


def bench_memory() -> list[dict]:
    """Peak memory of a process of its own, torch itself included."""
    code = "import benchmarks.bench_attention as b; b.large_global()"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    peak = float(answer.stdout.split()[-1])
    return [line("global, n = 65536: peak memory in MB, whole process", peak, "< 1000", peak < 1000)]


def large_global() -> None:
    """Print the peak resident memory of this process alone, by the kernel's high-water mark."""
    x = torch.randn(65536, 3)
    global_attention(x, x, x, scale=3**-0.5)
    status = dict(entry.split(":", 1) for entry in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) / 1000)


def bench_longformer() -> list[dict]:
    rows, times = [], {}
    for n in (16384, 32768):
        x = torch.randn(1, n, 3)
        mine, theirs = ours(x, n // 2), hugging_face(x, n // 2)
        mine(), theirs()
        times[n] = min(seconds(mine, repeats=5) for _ in range(3))
        if n == 16384:
            ratio = seconds(theirs, repeats=5) / times[n]
            error = float((mine() - theirs()).abs().max())
            rows.append(line("longformer, n = 16384, w = 512: speed over Hugging Face", ratio, ">= 2", ratio >= 2))
            rows.append(line("longformer, n = 16384: largest difference", error, "<= 1e-5", error <= 1e-5))
    growth = times[32768] / times[16384]
    rows.append(line("longformer: time of n = 32768 over n = 16384", growth, "<= 2.3", growth <= 2.3))
    return rows


def line(what: str, value: float, target: str, met: bool) -> dict:
    return {"benchmark": what, "value": float(f"{value:.4g}"), "target": target, "met": met}


def main() -> None:
    torch.manual_seed(0)
    with torch.no_grad():
        table = pd.DataFrame([*bench_global(), *bench_longformer(), *bench_memory()])
    print(table.to_string(index=False))
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    table.to_csv(folder / "attention.csv", index=False)


if __name__ == "__main__":
    main()
