"""The small Longformer of A Table 2 on a CPU, against Hugging Face's and against padding: time, memory, equality.

Each contestant lives in a process of its own, so that its memory can be measured, and computes in one thread. They take
turns step by step, so that whatever else the machine does hits both; the smallest time of each counts.
Usage: bench_language.py [repeats]
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts")]
VOCABULARY, BATCH, TOKENS, MASKED = 50265, 4, 1024, 0.15
SENTENCES, SENTENCES_PER_STEP = 64, 8
MEDIAN, SPREAD, LONGEST = 20, 0.6, 66  # tokens of a sentence of SST-2, roughly log-normal


def size(dropout: float = 0.1):
    from clusterlens.models.longformer_size import LongformerSize

    return LongformerSize(vocabulary=VOCABULARY, dropout=dropout)


def masked_lm(whose: str):
    """A step of masked language modelling: forward, backward, optimiser. Both start from the same weights."""
    import torch
    from transformers import LongformerConfig
    from transformers import LongformerForMaskedLM as Theirs

    from clusterlens.models.longformer import IGNORED, LongformerForMaskedLM

    torch.manual_seed(0)
    model = LongformerForMaskedLM(size())
    if whose == "theirs":
        weights = model.state_dict()
        model = Theirs(LongformerConfig(**size().hugging_face, attn_implementation="eager"))
        model.load_state_dict(weights)
        del weights
    tokens = torch.randint(4, VOCABULARY, (BATCH, TOKENS), generator=torch.Generator().manual_seed(1))
    chosen = torch.rand(tokens.shape, generator=torch.Generator().manual_seed(2)) < MASKED
    targets, mask = torch.where(chosen, tokens, IGNORED), torch.ones_like(tokens, dtype=torch.bool)
    optimizer = torch.optim.AdamW(model.parameters(), lr=9e-4, weight_decay=2e-6, fused=True)

    def loss():
        return model(tokens, mask, targets) if whose == "ours" else model(tokens, mask.long(), labels=targets).loss

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    model.eval()  # no dropout, so that the losses can be compared
    with torch.no_grad():
        value = float(loss())
    model.train()
    return step, value


def fine_tuning(how: str):
    """Steps over sentences as long as those of SST-2: all, in batches of similar length, or a batch padded to 1,024."""
    import torch
    from torch.nn.functional import cross_entropy

    from clusterlens.models.longformer import LongformerForClassification

    torch.manual_seed(0)
    model = LongformerForClassification(size()).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    lengths = (MEDIAN * torch.exp(SPREAD * torch.randn(SENTENCES))).round().long().clamp(4, LONGEST)
    labels = torch.randint(0, 2, (SENTENCES,))
    order = lengths.argsort() if how == "bucketed" else torch.arange(SENTENCES_PER_STEP)

    def step() -> None:
        for chosen in order.split(SENTENCES_PER_STEP):
            width = int(lengths[chosen].max()) if how == "bucketed" else TOKENS
            mask = torch.arange(width) < lengths[chosen, None]
            tokens = torch.where(mask, torch.randint(4, VOCABULARY, mask.shape), 1)
            optimizer.zero_grad(set_to_none=True)
            cross_entropy(model(tokens, mask), labels[chosen]).backward()
            optimizer.step()

    return step, 0.0


CONTESTS = {"masked_lm": masked_lm, "fine_tuning": fine_tuning}


def status(name: str) -> int:
    """A figure of this process in bytes, from the kernel."""
    entries = dict(entry.split(":", 1) for entry in Path("/proc/self/status").read_text().splitlines())
    return int(entries[name].split()[0]) * 1024


def serve(contest: str, contestant: str) -> None:
    """One step per line of input: wall seconds, CPU seconds, peak bytes above the process with its model, and loss."""
    import torch

    from clusterlens.devices import keep_freed_memory

    torch.set_num_threads(1)
    if contestant != "theirs":
        keep_freed_memory()  # as rule train_model does
    step, loss = CONTESTS[contest](contestant)
    Path("/proc/self/clear_refs").write_text("5")  # the kernel's high-water mark starts anew
    before = status("VmRSS")
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(wall, cpu, status("VmHWM") - before, loss, flush=True)


def measure(contest: str, contestants: tuple[str, str], repeats: int) -> list[tuple[float, float, float, float]]:
    """Smallest wall and CPU seconds, peak memory and loss of each, after one step that is not counted."""
    command = [sys.executable, __file__, "--serve", contest]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    jobs = [subprocess.Popen([*command, name], **pipes) for name in contestants]
    steps: list[list[list[float]]] = [[] for _ in jobs]
    for _ in range(repeats + 1):
        for rows, job in zip(steps, jobs, strict=True):
            job.stdin.write("\n")
            job.stdin.flush()
            rows.append([float(value) for value in job.stdout.readline().split()])
    for job in jobs:
        job.stdin.close()
        job.wait()
    return [(min(r[0] for r in rows[1:]), min(r[1] for r in rows[1:]), *rows[-1][2:]) for rows in steps]


def main(repeats: int) -> None:
    import pandas as pd

    from clusterlens.data.formats import write_csv

    ours, theirs = measure("masked_lm", ("ours", "theirs"), repeats)
    bucketed, padded = measure("fine_tuning", ("bucketed", "padded"), repeats)
    more = SENTENCES / SENTENCES_PER_STEP  # sentences of a bucketed measurement over those of a padded one
    difference = abs(ours[3] - theirs[3])
    rows = [
        at_least("masked-LM step: speed over Hugging Face's, wall", theirs[0] / ours[0], 1.5),
        at_least("masked-LM step: speed over Hugging Face's, CPU seconds", theirs[1] / ours[1], 1.5),
        at_least("masked-LM step: memory of Hugging Face's over ours, peak above the model", theirs[2] / ours[2], 2),
        line("masked-LM loss: difference from Hugging Face's", difference, "<= 1e-4", difference <= 1e-4),
        at_least("short sentences per second: by length over padded, wall", more * padded[0] / bucketed[0], 4),
        at_least("short sentences per second: by length over padded, CPU seconds", more * padded[1] / bucketed[1], 4),
    ]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    print(f"ours {ours[1]:.2f} s a step, {ours[2] / 1e9:.2f} GB; theirs {theirs[1]:.2f} s, {theirs[2] / 1e9:.2f} GB")
    write_csv(ROOT / "benchmarks" / "results" / "language.csv", table)


def at_least(what: str, value: float, target: float) -> dict:
    return line(what, value, f">= {target:g}", value >= target)


def line(what: str, value: float, target: str, met: bool) -> dict:
    return {"benchmark": what, "value": float(f"{value:.4g}"), "target": target, "met": bool(met)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
