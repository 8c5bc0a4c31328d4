"""Does training work on this GPU? Each model takes a few steps on it and on the CPU from the same seed: make check-gpu.

Losses have to agree; a paper-sized batch then shows speed and peak memory. Exit status: 0 where all agree, 1 where
something failed, 2 without a GPU.
"""

import argparse
import math
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import save_model

from clusterlens.data.formats import write_arrays
from clusterlens.logs import versions
from clusterlens.models.arms import ARMS, MODEL, LanguageRun
from clusterlens.models.image_models import RUNS
from clusterlens.provenance import ROOT, commit
from clusterlens.schema import read_yaml
from clusterlens.training.finetuning_task import FinetuningTask
from clusterlens.training.image_task import ImageTask
from clusterlens.training.loop import Run
from clusterlens.training.pretraining_task import PretrainingTask
from clusterlens.training.task import Task

STEPS, WARM_UP, TIMED = 3, 3, 10
VOCABULARY, SPECIAL, MASK, PAD = 1000, [0, 1, 2], 4, 1
CLASSIFIER = "classifier"
CASES = [*RUNS, *ARMS, CLASSIFIER]
# The largest relative difference of a loss. Devices sum in another order; where that tips a neuron over its threshold,
# a spike more or less changes more than rounding. Half precision keeps 11 bits.
ALLOWED, ALLOWED_SPIKING, ALLOWED_HALF = 1e-3, 3e-2, 1e-1


class Size(NamedTuple):
    """What differs from the paper's settings."""

    architecture: dict
    images: int  # in a batch
    model: dict
    texts: int  # in a batch


PAPER = read_yaml(ROOT / "config" / "config.yaml")
SHALLOW = Size({"depth": 2}, 8, {"layers": 2, "max_sequence_length": 256}, 4)
FULL = Size({}, PAPER["training"]["batch_size"], {}, PAPER["language_model"]["pretraining"]["batch_size"])
TINY = Size(
    {"depth": 1, "embedding_dimension": 16, "heads": 2, "time_steps": 2},
    4,
    {"layers": 1, "hidden_dimension": 16, "attention_heads": 2, "intermediate_size": 16, "max_sequence_length": 32},
    2,
)


def write_data(folder: Path, size: Size) -> None:
    """One batch of random images and of random texts of full length, for training and for testing."""
    draw = np.random.default_rng(0)
    pictures = draw.integers(0, 256, (max(size.images, 10), 32, 32, 3)).astype(np.uint8)
    labels = (np.arange(len(pictures)) % 10).astype(np.uint8)
    np.savez(folder / "images.npz", train_x=pictures, train_y=labels, test_x=pictures, test_y=labels)
    length = (PAPER["language_model"] | size.model)["max_sequence_length"]
    arrays = {"vocabulary": VOCABULARY, "pad": PAD, "mask": MASK, "special": SPECIAL}
    for split in ("train", "valid", "test"):
        arrays[f"{split}_tokens"] = draw.integers(MASK + 1, VOCABULARY, size.texts * length)
        arrays[f"{split}_ends"] = length * np.arange(1, size.texts + 1)
        arrays[f"{split}_labels"] = np.arange(size.texts) % 2
    write_arrays(folder / "tokens.npz", {name: np.array(array) for name, array in arrays.items()})


def make_task(case: str, size: Size, folder: Path, device: torch.device, *, half: bool) -> Task:
    """The task of a case with nothing in it that a device draws by itself, such as dropout."""
    if case in RUNS:
        training = PAPER["training"] | {"batch_size": size.images, "mixed_precision": half}
        architecture = PAPER["architecture"] | size.architecture
        images = str(folder / "images.npz")
        return ImageTask(case, images, seed=0, architecture=architecture, training=training, device=device)
    section = PAPER["language_model"]
    model = {key: section[key] for key in MODEL} | size.model | {"dropout": 0.0, "mixed_precision": half}
    run, tokens = LanguageRun("sdp" if case == CLASSIFIER else case, section["window"], 0), str(folder / "tokens.npz")
    phase = {"batch_size": size.texts, "warmup_steps": 0}
    pretraining = PretrainingTask(run, tokens, model=model, phase=section["pretraining"] | phase, device=device)
    if case != CLASSIFIER:
        return pretraining
    weights = folder / "weights.safetensors"
    torch.manual_seed(0)
    save_model(pretraining.build(), str(weights))
    settings = {"weights": weights, "model": model, "phase": section["finetuning"] | phase, "device": device}
    return FinetuningTask(run, "sst2", tokens, **settings)


def losses(case: str, size: Size, device: torch.device, *, half: bool = False) -> list[float]:
    """The loss of each of the first steps."""
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder), size)
        run = Run(make_task(case, size, Path(folder), device, half=half))
        run.model.train()
        [chosen, *_] = run.task.batches(1)
        return [float(run.update(chosen)) for _ in range(STEPS)]


def speed(case: str, size: Size, device: torch.device) -> tuple[float, float | None]:
    """Examples per second of training in half precision, and the peak memory on the card in GB."""
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder), size)
        run = Run(make_task(case, size, Path(folder), device, half=True))
        run.model.train()
        [chosen, *_] = run.task.batches(1)
        for step in range(WARM_UP + TIMED):
            if step == WARM_UP:
                started = synchronised(device)
            run.update(chosen)
        seconds = synchronised(device) - started
    peak = torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else None
    return TIMED * len(chosen) / seconds, peak


def synchronised(device: torch.device) -> float:
    """The time at which the device has done all it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def furthest(ours: list[float], theirs: list[float]) -> float:
    """The largest relative difference; infinite where a loss is not finite."""
    apart = [abs(a - b) / abs(b) if math.isfinite(a) and b else math.inf for a, b in zip(ours, theirs, strict=True)]
    return max(apart)


def check(case: str, device: torch.device) -> tuple[str, list[str]]:
    """A line about one model, and what is wrong with it."""
    shallow, full = (TINY, TINY) if device.type == "cpu" else (SHALLOW, FULL)
    spiking = case.startswith("spikformer")
    allowed = {"full": ALLOWED_SPIKING if spiking else ALLOWED, "half": ALLOWED_HALF}
    expected = losses(case, shallow, torch.device("cpu"))
    apart = {name: furthest(losses(case, shallow, device, half=name == "half"), expected) for name in ("full", "half")}
    wrong = [
        f"{case}: {name} precision differs from the CPU by {apart[name]:.2g}, allowed {limit:g}"
        for name, limit in allowed.items()
        if apart[name] > limit
    ]
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    rate, peak = speed(case, full, device)
    what = "images/s" if case in RUNS else "texts/s"
    memory = "" if peak is None else f", peak {peak:.2f} GB"
    shown = f"loss {expected[-1]:.4f}, apart {apart['full']:.1e} (half {apart['half']:.1e}), {rate:.0f} {what}{memory}"
    return f"{'FAIL' if wrong else 'ok':4} {case:22} {shown}", wrong


def circumstances(device: torch.device) -> list[str]:
    """What a report of a failure needs: versions, device, driver, commit; nothing about the user."""
    lines = [" ".join(f"{name}={number}" for name, number in versions().items())]
    lines.append(f"torch for CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, {platform.platform()}")
    if device.type == "cuda":
        about = torch.cuda.get_device_properties(device)
        lines.append(f"{about.name}, {about.total_memory / 1e9:.0f} GB, compute capability {about.major}.{about.minor}")
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            lines.append(
                "driver " + subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
            )
        except (OSError, subprocess.CalledProcessError, IndexError):
            lines.append("driver unknown: nvidia-smi does not answer")
    return [*lines, f"commit {commit()}"]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--device", default="cuda", help="cuda, cuda:1, or cpu to try this script itself on tiny models"
    )
    parser.add_argument("--models", nargs="*", default=CASES, choices=CASES, metavar="MODEL", help=", ".join(CASES))
    asked = parser.parse_args(words)
    device = torch.device(asked.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print(
            f"check_gpu: torch {torch.__version__} finds no GPU here, so nothing was checked: see whether nvidia-smi"
            " lists one, whether CUDA_VISIBLE_DEVICES hides it, and whether the driver is new enough",
            file=sys.stderr,
        )
        return 2
    if device.type == "cpu":
        torch.set_num_threads(1)  # tiny models gain nothing from more
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # 10 bits would hide a mistake
    about = circumstances(device)
    print("\n".join(about), flush=True)
    failures: list[str] = []
    for case in asked.models:
        try:
            line, wrong = check(case, device)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = " ".join(str(error).split())[:300]
            place = f"{Path(last.filename).name}:{last.lineno}"
            line, wrong = f"FAIL {case}", [f"{case}: {place}: {last.line}: {type(error).__name__}: {reason}"]
        print(line, flush=True)
        failures += wrong
    if failures:
        print("\nPlease send us these lines, as an issue of the project:", *about, *failures, sep="\n  ")
        return 1
    print("all models train on this device as on the CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
