"""What is kept of the captured layers: small numbers per text and layer, added up while the model runs.

Each class has a method `add`, which is a visitor of `capture`. Numbers are kept text by text, for intervals over texts.
"""

from collections import defaultdict

import numpy as np
import pandas as pd
import torch

from clusterlens.metrics import order, similarity
from clusterlens.metrics.correlation import correlations
from clusterlens.metrics.similarity import mean_correlation
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank
from clusterlens.metrics.threads import threads
from clusterlens.probing.bands import visible
from clusterlens.probing.capture import Layer


class TokenSimilarity:
    """Pairwise cosines of the tokens by layer: histogram, mean, skewness, share of alike pairs, number of clusters.

    With the `diagonal` all of them are those of the whole matrix, a token's cosine with itself included (T's code).
    """

    def __init__(self, *, diagonal: bool = False):
        self.diagonal = diagonal
        self.counts: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(len(similarity.EDGES) - 1, dtype=np.int64))
        self.tokens: dict[int, int] = defaultdict(int)
        self.rows: list[dict] = []

    def add(self, layer: Layer) -> None:
        for text, hidden, _ in layer.texts():
            cosines = order.cosines(hidden.double().cpu().numpy())
            self.counts[layer.index] += similarity.histogram(cosines)
            self.tokens[layer.index] += len(hidden)
            clusters = int(order.count(order.components(cosines > order.CLUSTER_COSINE)))
            row = {"text": text, "layer": layer.index, "tokens": len(hidden), "clusters": clusters}
            self.rows.append(row | similarity.moments(cosines, diagonal=self.diagonal))

    def table(self) -> pd.DataFrame:
        """One row per text and layer."""
        return pd.DataFrame(self.rows).sort_values(["layer", "text"], ignore_index=True)

    def histogram(self, layer: int) -> np.ndarray:
        """The density over `similarity.EDGES` of all texts' cosines at one layer."""
        counts, tokens = self.counts[layer], self.tokens[layer]
        return similarity.density(similarity.with_diagonal(counts, tokens) if self.diagonal else counts)

    def bins(self, layer: int) -> pd.DataFrame:
        """The same as a table: where each bin starts, and its density."""
        return pd.DataFrame({"cosine": similarity.EDGES[:-1].round(6), "density": self.histogram(layer)})


class Spectrum:
    """Eigenvalues of the covariance of the tokens by layer, centred and not, and their effective rank."""

    def __init__(self, *, kept: int = 64):
        self.kept = kept
        self.rows: list[dict] = []
        self.eigenvalues: dict[tuple[int, int, bool], np.ndarray] = {}

    def add(self, layer: Layer) -> None:
        for text, hidden, _ in layer.texts():
            x = hidden.double().cpu().numpy()
            row: dict[str, float] = {"text": text, "layer": layer.index, "tokens": len(x)}
            for centred in (True, False):
                with threads().limit(limits=1):
                    eigenvalues = covariance_spectrum(x, centred=centred)
                name = "centred" if centred else "uncentred"
                row[f"effective_rank_{name}"] = float(effective_rank(eigenvalues))
                row[f"leading_share_{name}"] = float(eigenvalues[0] / max(eigenvalues.sum(), 1e-300))
                self.eigenvalues[layer.index, text, centred] = eigenvalues[: self.kept]
            self.rows.append(row)

    def table(self) -> pd.DataFrame:
        """One row per text and layer."""
        return pd.DataFrame(self.rows).sort_values(["layer", "text"], ignore_index=True)

    def eigenvalue_table(self) -> pd.DataFrame:
        """One row per text, layer, covariance and rank, counted from 1."""
        rows = [
            {"text": text, "layer": layer, "covariance": "centred" if centred else "uncentred", "rank": rank}
            | {"eigenvalue": float(value)}
            for (layer, text, centred), found in self.eigenvalues.items()
            for rank, value in enumerate(found, start=1)
        ]
        return pd.DataFrame(rows)


class HeadCorrelations:
    """Pearson's r between the maps of all pairs of heads, by layer and text (T Fig. 2, right).

    The padding of a batch is left out; T's public code has it in (`padding`), where it raises every correlation.
    """

    def __init__(self, *, layers: set[int] | None = None, padding: bool = False):
        self.layers, self.padding = layers, padding
        self.found: dict[int, list[np.ndarray]] = defaultdict(list)

    def add(self, layer: Layer) -> None:
        if layer.maps is None or (self.layers is not None and layer.index not in self.layers):
            return
        if self.padding or len(set(layer.lengths)) == 1:
            self.found[layer.index] += list(correlations(layer.maps).numpy())
        else:
            self.found[layer.index] += [correlations(maps[None])[0].numpy() for _, _, maps in layer.texts()]

    def per_text(self, layer: int) -> np.ndarray:
        """(texts, heads, heads), NaN where a head's map is constant."""
        return np.stack(self.found[layer])

    def mean(self, layer: int) -> np.ndarray:
        return mean_correlation(self.per_text(layer))

    def off_diagonal(self) -> pd.DataFrame:
        """Mean r over pairs of different heads, one row per text and layer."""
        rows = []
        for layer, matrices in sorted(self.found.items()):
            for text, r in enumerate(matrices):
                apart = r[~np.eye(len(r), dtype=bool)]
                value = np.nanmean(apart) if np.isfinite(apart).any() else np.nan
                rows.append({"text": text, "layer": layer, "correlation": float(value)})
        return pd.DataFrame(rows)


class AttentionToFirst:
    """Mean attention that the tokens after the first pay to the first, by head, layer and text, and what uniform
    attention over the keys that each may see would give."""

    def __init__(self):
        self.rows: list[dict] = []

    def add(self, layer: Layer) -> None:
        if layer.maps is None:
            return
        for text, _, maps in layer.texts():
            seen = visible(maps.shape[-1], half=layer.half_window, tokens=layer.global_tokens).double()
            uniform = float(order.first_attention((seen / seen.sum(-1, keepdim=True)).numpy()))
            for head, value in enumerate(order.first_attention(maps[..., :2].double().cpu().numpy())):
                row = {"text": text, "layer": layer.index, "head": head, "attention": float(value)}
                self.rows.append(row | {"uniform": uniform})

    def table(self) -> pd.DataFrame:
        """One row per text, layer and head."""
        return pd.DataFrame(self.rows).sort_values(["layer", "text", "head"], ignore_index=True)


class AttentionByKey:
    """What every key of one text receives, averaged over queries, by head and layer (T Fig. 2, left)."""

    def __init__(self, text: int = 0):
        self.text = text
        self.received: dict[int, np.ndarray] = {}

    def add(self, layer: Layer) -> None:
        for text, _, maps in layer.texts():
            if text == self.text and maps is not None:
                self.received[layer.index] = maps.mean(1).cpu().numpy()  # (H, n)


class HiddenStates:
    """The tokens of one layer, all texts: what a diagnosis of a checkpoint works on."""

    def __init__(self, layer: int):
        self.layer = layer
        self.found: dict[int, torch.Tensor] = {}

    def add(self, layer: Layer) -> None:
        if layer.index == self.layer:
            self.found |= {text: hidden.float().cpu().clone() for text, hidden, _ in layer.texts()}

    def of(self, text: int) -> np.ndarray:
        """(n, d)."""
        return self.found[text].numpy()
