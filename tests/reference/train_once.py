"""Train a tiny model, also as a process that a test can kill: train_once.py <folder> <milliseconds between epochs>."""

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from clusterlens.training.image_task import ImageTask
from clusterlens.training.loop import train


def train_once(folder: Path, pause: float = 0.0) -> None:
    """Train as `folder/settings.json` says on `folder/images.npz`, waiting `pause` seconds after every epoch."""
    settings = json.loads((folder / "settings.json").read_text())
    train(
        ImageTask(images=str(folder / "images.npz"), device=torch.device("cpu"), **settings),
        metrics=folder / "metrics.csv",
        checkpoint_root=folder / "checkpoints",
        after_epoch=lambda epoch: time.sleep(pause),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    train_once(Path(sys.argv[1]), float(sys.argv[2]) / 1000)
