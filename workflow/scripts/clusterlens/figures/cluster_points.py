"""The clustering study's files as the tidy tables that its figures are drawn from."""

import numpy as np
import pandas as pd

from clusterlens.files import read_json

DATA_NAMES = {"picture": "Data A", "diabetes": "Data B", "heart": "Data C"}


def load(path: str) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def cloud(stored: dict[str, np.ndarray], case: str, panel: str) -> pd.DataFrame:
    """Final tokens and clusters of one case: panel, token, x, y, z, cluster."""
    table = positions(stored[f"tokens {case}"], panel)
    return table.assign(cluster=stored[f"labels {case}"])


def positions(tokens: np.ndarray, panel: str) -> pd.DataFrame:
    """Three coordinates of each token: its features where it has three, else its leading principal components."""
    x = tokens.astype(float)
    if x.shape[1] != 3:
        centred = x - x.mean(axis=0)
        directions = np.linalg.svd(centred, full_matrices=False)[2][:3]
        x = np.pad(centred @ directions.T, ((0, 0), (0, 3 - len(directions))))
    frame = pd.DataFrame(x.round(4), columns=["x", "y", "z"])
    frame.insert(0, "token", np.arange(len(x)))
    frame.insert(0, "panel", panel)
    return frame


def shown_measures(path: str) -> dict[str, dict[str, float]]:
    """The measures of each case on the sample that the figures show, the first."""
    table = pd.read_csv(path)
    table = table[table["sample"] == table["sample"].iloc[0]]
    return {case: dict(zip(rows["measure"], rows["value"], strict=True)) for case, rows in table.groupby("case")}


def score_line(found: dict[str, float]) -> str:
    """What a panel says about its clusters, in short."""
    parts = [f"silhouette {found['silhouette']:.2f}"]
    if "dice" in found:
        parts.append(f"dice {found['dice']:.3f}")
    if "accuracy" in found:
        parts.append(f"accuracy {found['accuracy']:.0%} ({found['coverage']:.0%} of tokens)")
    return ", ".join(parts)


def stand_ins(manifests: list[str]) -> list[str]:
    return sorted({name for path in manifests for name in read_json(path)["stand_ins"]})
