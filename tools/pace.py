"""Measure once how fast this machine trains the config's Spikformer, and remember it: make laptop.

Compared are as many jobs of one thread as there are cores, side by side, and one job with all cores. The faster way is
how training jobs run from then on, and its speed tells how long a run will take.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from clusterlens.config import complete
from clusterlens.errors import UserError
from clusterlens.pace import cores_of, remember, remembered
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml

SECONDS = 5.0  # of training, after a warm-up


def train(config: dict, threads: int) -> float:
    """Images per second of the training steps of one job."""
    import torch

    from clusterlens.devices import for_training
    from clusterlens.models.image_models import build
    from clusterlens.training.image_recipe import make_optimizer

    for_training("cpu", threads=threads)
    architecture, batch = config["architecture"], config["training"]["batch_size"]
    draw = torch.Generator().manual_seed(0)
    images = torch.randn(batch, 3, *2 * [architecture["image_size"]], generator=draw)
    labels = torch.arange(batch) % architecture["classes"]
    model = build("spikformer", architecture).train()
    optimizer = make_optimizer(model, config["training"])
    seen, started = -2 * batch, 0.0  # two steps of warm-up
    while seen <= 0 or time.monotonic() < started + SECONDS:
        if seen == 0:
            started = time.monotonic()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        seen += batch
    return seen / (time.monotonic() - started)


def side_by_side(overlay: str, jobs: int, threads: int) -> float:
    """Images per second of several jobs together."""
    command = [sys.executable, __file__, overlay, f"--threads={threads}"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(jobs)]
    said = [job.communicate() for job in started]
    for job, (_, error) in zip(started, said, strict=True):
        if job.returncode:
            why = [f"it ended with {job.returncode}", *error.decode(errors="replace").splitlines()][-1]
            sys.exit(f"clusterlens: could not measure how fast this machine trains: {why}")
    return sum(json.loads(speed) for speed, _ in said)


def main(words: list[str]) -> None:
    overlay, (option, _, number) = words[0], words[1].partition("=")
    config, count = read_yaml(Path(overlay)), cores_of(number)
    complete(config, read_yaml(ROOT / "config" / "config.yaml"))
    if option == "--threads":
        print(json.dumps(train(config, count)))
    elif remembered(config, count) is None:
        print("Measuring how fast this machine trains: half a minute, once ...", flush=True)
        speeds = {threads: side_by_side(overlay, count // threads, threads) for threads in dict.fromkeys((1, count))}
        threads = max(speeds, key=speeds.__getitem__)
        try:
            remember(config, count, {"threads": threads, "images_per_second": round(speeds[threads], 1)})
        except OSError as error:
            print(f"clusterlens: the measurement could not be saved, so training jobs use one thread each: {error}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"clusterlens: {error}")
