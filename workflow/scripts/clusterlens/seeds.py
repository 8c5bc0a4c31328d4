"""Randomness from a seed, for every generator that a job may draw from."""

import random
import sys

import numpy as np


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and, where it is loaded, torch on every device.

    Equality across devices or library versions is not promised; on one machine and one device it is.
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)
