"""The study's results as files: final tokens and clusters in one archive, measures and spectra as tidy tables."""

import numpy as np
import pandas as pd
import torch

from clusterlens.attention.strength import leaders, links, share_of_leaders
from clusterlens.attention.study import spectra


def arrays(found: dict[str, dict]) -> dict[str, np.ndarray]:
    """`start` (n, d), and for each case `tokens <case>` (n, d) and `labels <case>` (n)."""
    first = next(iter(found.values()))
    stored = {"start": first["history"][0].astype(np.float32)}
    for name, result in found.items():
        stored[f"tokens {name}"] = result["history"][-1].astype(np.float32)
        stored[f"labels {name}"] = result["labels"].astype(np.int16)
    return stored


def measures(found: dict[str, dict], sample: int) -> pd.DataFrame:
    """One row per case and measure."""
    rows = [
        (name, sample, measure, value)
        for name, result in found.items()
        for measure, value in result["measures"].items()
    ]
    return pd.DataFrame(rows, columns=["case", "sample", "measure", "value"])


def spectrum_table(found: dict[str, dict]) -> pd.DataFrame:
    rows = [(name, *row) for name, result in found.items() for row in spectra(result["history"])]
    return pd.DataFrame(rows, columns=["case", "iteration", "covariance", "rank", "eigenvalue"])


def differences(found: dict[str, dict], base: str) -> dict[str, float]:
    """The largest difference of any coordinate of any final token, for each case that varies `base` in its scaling."""
    final = found[base]["history"][-1]
    return {
        name: float(np.abs(result["history"][-1] - final).max())
        for name, result in found.items()
        if name.startswith(base)
    }


def link_table(result: dict, *, least: float, most: int) -> tuple[pd.DataFrame, np.ndarray, float]:
    """The strongest links of the final tokens, which tokens lead (n), and what share of the n strongest end there."""
    final, labels = torch.from_numpy(result["history"][-1]), torch.from_numpy(result["labels"])
    i, j, strength = links(final, least=least)
    lead = leaders(final, labels)
    share = share_of_leaders(i, j, lead, labels, strongest=len(final))
    table = pd.DataFrame({"token": i[:most], "attends to": j[:most], "strength": strength[:most]})
    return table, lead.numpy(), share
