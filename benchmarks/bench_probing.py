"""Probes against straightforward code in the same run: time in alternation, and the memory of a process of its own.

Times are CPU seconds of one thread, so that whatever else the machine does counts on neither side. Run by `make bench`,
or `python benchmarks/bench_probing.py`; writes benchmarks/results/probing.csv. Takes some minutes, most of them the
forward passes of an ALBERT xlarge (hidden 2048, 16 heads) with random weights.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_limits
from transformers import AlbertConfig, AlbertModel

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "tests")]

from clusterlens.devices import give_back_freed_memory  # noqa: E402
from clusterlens.metrics.correlation import correlations  # noqa: E402
from clusterlens.probing.capture import capture  # noqa: E402
from clusterlens.probing.flow import start, velocity  # noqa: E402
from clusterlens.probing.head_weights import heads_of  # noqa: E402
from clusterlens.probing.heads import Heads  # noqa: E402
from clusterlens.probing.load import load  # noqa: E402
from clusterlens.probing.statistics import AttentionToFirst, HeadCorrelations, TokenSimilarity  # noqa: E402
from reference.probing import correlation_of_pairs  # noqa: E402

XLARGE = {"hidden_size": 2048, "num_attention_heads": 16, "intermediate_size": 8192, "embedding_size": 128}
NARROW = {"hidden_size": 256, "num_attention_heads": 16, "intermediate_size": 512, "embedding_size": 64}
GIGABYTE = 1e9


def albert(depth: int, sizes: dict, implementation: str = "eager") -> AlbertModel:
    torch.manual_seed(0)
    config = AlbertConfig(vocab_size=30000, num_hidden_layers=depth, **sizes, attn_implementation=implementation)
    return AlbertModel(config, add_pooling_layer=False).eval()


def texts(count: int, tokens: int) -> list[list[int]]:
    return torch.randint(5, 30000, (count, tokens), generator=torch.Generator().manual_seed(0)).tolist()


def in_turn(*calls, repeats: int) -> list[float]:
    """The smallest time of each call; they take turns."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            begun = time.process_time()
            call()
            best[place] = min(best[place], time.process_time() - begun)
    return best


def status(name: str) -> int:
    """A figure of this process in bytes, from the kernel."""
    entries = dict(entry.split(":", 1) for entry in Path("/proc/self/status").read_text().splitlines())
    return int(entries[name].split()[0]) * 1024


def bench_memory() -> list[dict]:
    code = "import benchmarks.bench_probing as b; b.peak()"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    peak = float(answer.stdout.split()[-1])
    what = "head correlations, depth 48, 16 heads, 512 tokens, batch 4: peak GB above the model"
    return [line(what, peak, "< 1.5", peak < 1.5)]


def peak() -> None:
    """Print how far the resident memory rises above that of the process with its model."""
    give_back_freed_memory()  # as the probing jobs do
    model = albert(48, XLARGE)
    with torch.no_grad():
        model(torch.ones(1, 8, dtype=torch.long))  # what the libraries allocate once
    Path("/proc/self/clear_refs").write_text("5")  # the kernel's high-water mark starts anew
    before = status("VmRSS")
    capture(model, texts(4, 512), [HeadCorrelations().add], batch_size=4)
    print((status("VmHWM") - before) / GIGABYTE)


def bench_streaming() -> list[dict]:
    """Streamed against all maps kept and correlated by the same product afterwards, where all maps fit."""
    model, batch = albert(48, NARROW), texts(4, 256)
    ids = torch.tensor(batch)

    def streamed():
        kept = HeadCorrelations()
        capture(model, batch, [kept.add], batch_size=4)
        return [kept.per_text(layer) for layer in range(1, 49)]

    def kept():
        maps = model(ids, output_attentions=True).attentions
        return [correlations(layer).numpy() for layer in maps]

    error = max(np.abs(one - other).max() for one, other in zip(streamed(), kept(), strict=True))
    mine, theirs = in_turn(streamed, kept, repeats=5)
    return [
        line("head correlations, 256 tokens: time over keeping all maps", mine / theirs, "<= 1", mine <= theirs),
        line("head correlations, 256 tokens: largest difference", error, "<= 1e-6", error <= 1e-6),
    ]


def bench_pairs() -> list[dict]:
    maps = (2 * torch.randn(1, 16, 512, 512)).softmax(-1)
    array = maps[0].numpy()
    mine, theirs = in_turn(lambda: correlations(maps), lambda: correlation_of_pairs(array), repeats=5)
    error = np.abs(correlations(maps)[0].numpy() - correlation_of_pairs(array.astype(float))).max()
    ratio = theirs / mine
    return [
        line("all pairs of 16 heads, 512 tokens: speed over a loop of numpy.corrcoef", ratio, ">= 20", ratio >= 20),
        line("all pairs of 16 heads, 512 tokens: largest difference", error, "<= 1e-6", error <= 1e-6),
    ]


def bench_unrolled() -> list[dict]:
    """From the folder to the statistics of T Figs. 1 and 2, against the forward pass of the loaded model alone."""
    paragraph = texts(1, 301)
    bare = albert(96, XLARGE, "sdpa")
    with tempfile.TemporaryDirectory() as folder:
        bare.save_pretrained(folder)

        def probe():
            model = load(folder, layers=96, tokenizer="characters").model
            statistics = (TokenSimilarity(), HeadCorrelations(), AttentionToFirst())
            capture(model, paragraph, [one.add for one in statistics])

        ours, theirs = in_turn(probe, lambda: bare(torch.tensor(paragraph)), repeats=2)
    ratio = ours / theirs
    what = "load and capture through 96 layers of hidden 2048: time over the bare forward pass"
    return [line(what, ratio, "<= 1.2", ratio <= 1.2)]


def bench_flow() -> list[dict]:
    """One step of 40 tokens under 4 heads of 2048 dimensions, by low-rank factors and by full matrices."""
    heads = heads_of(albert(1, XLARGE)).only(0, 1, 2, 3)
    eye = torch.eye(2048, dtype=torch.float64).expand(4, -1, -1)
    full = Heads(
        query=torch.stack([k.T @ q for q, k in zip(heads.query, heads.key, strict=True)]),
        key=eye,
        value=torch.stack([heads.value_matrix(head) for head in range(4)]),
        output=eye,
        scale=heads.scale,
    )
    x = start(heads, 40, seed=0)
    slow, fast = velocity(full), velocity(heads)
    error = float((slow(0.0, x) - fast(0.0, x)).abs().max())
    mine, theirs = in_turn(lambda: fast(0.0, x), lambda: slow(0.0, x), repeats=3)
    ratio = theirs / mine
    return [
        line("flow of 4 heads, 2048 dimensions: speed over full matrices", ratio, ">= 5", ratio >= 5),
        line("flow of 4 heads, 2048 dimensions: largest difference", error, "<= 1e-9", error <= 1e-9),
    ]


def line(what: str, value: float, target: str, met: bool) -> dict:
    return {"benchmark": what, "value": float(f"{value:.4g}"), "target": target, "met": bool(met)}


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with torch.no_grad(), threadpool_limits(1):
        rows = []
        for bench in (bench_pairs, bench_streaming, bench_flow, bench_unrolled, bench_memory):
            rows += bench()
            print(pd.DataFrame(rows).to_string(index=False), flush=True)
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(folder / "probing.csv", index=False)


if __name__ == "__main__":
    main()
