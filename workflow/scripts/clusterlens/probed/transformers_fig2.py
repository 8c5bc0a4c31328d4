"""T Fig. 2: the heads of ALBERT, how alike they attend, and their attention to the first token."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clusterlens.data.formats import read_arrays
from clusterlens.figures.head_maps import HeadMaps, plot_head_maps
from clusterlens.metrics.numbers import number
from clusterlens.metrics.similarity import mean_correlation

ARRAYS = ("layer", "correlations", "padded", "received", "tokens", "clusters", "stability", "group")


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    arrays, by_text, by_head, _ = files["heads"]
    known = read_arrays(Path(arrays), ARRAYS)
    by_text, by_head = pd.read_csv(by_text), pd.read_csv(by_head)
    r = known["correlations"].astype(float)  # (texts, heads, heads)
    mean = mean_correlation(r)
    layer = int(known["layer"])
    maps = HeadMaps(layer, known["received"], known["tokens"], mean, known["clusters"], known["stability"])
    rows = []
    for index, part in by_text.groupby("layer"):
        part = part.set_index("text")
        rows.append(number(f"layer {index}", "mean correlation", part["correlation"]))
        rows.append(number(f"layer {index}", "attention to first token", part["attention"]))
    rows.append(number("uniform", "attention to first token", by_text.groupby("text")["uniform"].mean()))
    group = known["group"].tolist()
    for name, pairs in pair_groups(group, heads=r.shape[1]).items():
        rows.append(number(name, "mean correlation", over_pairs(r, pairs)))
    rows.append(number("with padding", "mean correlation", off_diagonal(known["padded"])))
    rows.append(number("clusters of heads", "Rand index", known["stability"].mean()))
    rows.append(number("clusters of heads", "largest", int(np.bincount(known["clusters"]).max())))
    return plot_head_maps(maps, by_text, by_head), points(known, mean), rows


def pair_groups(group: list[int], *, heads: int) -> dict[str, np.ndarray]:
    """Which pairs of different heads lie within T's group, within the rest, and between the two: (H, H) each.

    Empty where the checkpoint does not have those heads.
    """
    inside = np.isin(np.arange(heads), group)
    whole = inside.sum() == len(group)
    apart = ~np.eye(heads, dtype=bool) & whole
    return {
        f"heads {','.join(map(str, group))}": apart & inside[:, None] & inside,
        "other heads": apart & ~inside[:, None] & ~inside,
        "between groups": apart & (inside[:, None] != inside),
    }


def over_pairs(r: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The mean over these pairs text by text; NaN where all of a text's are constant, nothing without any pair."""
    chosen = r[:, pairs]
    if not chosen.shape[1]:
        return np.array([])
    counted = np.isfinite(chosen).sum(1)
    return np.divide(np.nansum(chosen, 1), counted, out=np.full(len(r), np.nan), where=counted > 0)


def off_diagonal(matrix: np.ndarray) -> float:
    return float(np.nanmean(matrix[~np.eye(len(matrix), dtype=bool)]))


def points(known: dict[str, np.ndarray], mean: np.ndarray) -> pd.DataFrame:
    """The correlation of every pair of heads at the layer shown, and the cluster of the first."""
    pairs = np.argwhere(np.ones_like(mean, dtype=bool))
    return pd.DataFrame(
        {
            "head": pairs[:, 0],
            "other": pairs[:, 1],
            "cluster": known["clusters"][pairs[:, 0]],
            "correlation": mean.ravel(),
            "with_padding": known["padded"].ravel(),
        }
    )
