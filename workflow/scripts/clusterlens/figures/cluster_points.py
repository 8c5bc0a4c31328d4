"""What attention made of tokens as the tidy tables that figures are drawn from."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from scipy.optimize import linear_sum_assignment

from clusterlens.attention.clustering import Clustering
from clusterlens.attention.tokens import Tokens
from clusterlens.figures import style


def cloud(found: Clustering, case: str, panel: str = "") -> pd.DataFrame:
    """Final tokens and clusters of one case: panel, token, x, y, z, cluster."""
    return positions(found.final[case], panel).assign(cluster=found.labels[case])


def cloud_with_globals(found: Clustering, case: str, panel: str) -> pd.DataFrame:
    """The same with a column `star`, 1 for Longformer's global tokens."""
    points = cloud(found, case, panel)
    return points.assign(star=points["token"].isin(found.known["global_tokens"]).astype(int))


def aligned(labels: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The labels renamed so that clusters that share most tokens with those of `reference` carry their names.

    Clusters that find no partner are numbered after all names of the reference.
    """
    own, names = np.unique(labels[labels >= 0]), np.unique(reference[reference >= 0])
    shared = np.array([[np.sum((labels == one) & (reference == name)) for name in names] for one in own])
    renamed = {}
    for row, column in zip(*linear_sum_assignment(-shared), strict=True):
        if shared[row, column]:
            renamed[own[row]] = names[column]
    free = names.max(initial=-1) + 1
    for one in own:
        if one not in renamed:
            renamed[one] = free
            free += 1
    return np.array([renamed.get(label, label) for label in labels])


def start_cloud(tokens: Tokens, panel: str) -> pd.DataFrame:
    """Tokens before any attention, with a column `colour`: that of the pixel, or one for each class."""
    points = positions(tokens.x, panel)
    if tokens.image is not None:
        return points.assign(colour=[to_hex(pixel / 255) for pixel in tokens.image.reshape(-1, 3)])
    classes = np.zeros(len(points)) if tokens.labels is None else tokens.labels
    return points.assign(colour=np.where(classes, style.ORANGE, style.BLUE))


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


def score_line(found: dict[str, float]) -> str:
    """What a panel says about its clusters, in short."""
    parts = [f"silhouette {found['silhouette']:.2f}"]
    if "dice" in found:
        parts.append(f"dice {found['dice']:.3f}")
    if "accuracy" in found:
        parts.append(f"accuracy {found['accuracy']:.0%} ({found['coverage']:.0%} of tokens)")
    return ", ".join(parts)
