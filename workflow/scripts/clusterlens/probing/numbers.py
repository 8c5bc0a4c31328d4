"""Curves and numbers of the probed layers, over texts or over fresh weights: A Figs. 12-15, sinks and depth."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from clusterlens.metrics.numbers import number
from clusterlens.metrics.statistics import mean_interval
from clusterlens.particles.runs import Run
from clusterlens.probing.states import FRESH, TRAINED

PAPER, PARAGRAPHS = "paper", "paragraphs"  # sources of text: that of A's appendix, and paragraphs drawn by a seed
SMALLEST = 1e-300

# Panels of A's figures from left to right, as model and state. A model's first state is what A shows.
SPECTRA = {
    "fig12": (
        ("longformer", "qkv_in_place"),
        ("longformer", "qkv_clean"),
        ("longformer", "plain_in_place"),
        ("longformer", "plain_clean"),
    ),
    "fig13": (("longformer", TRAINED),),
    "fig14": (("longformer", "off_in_place"), ("longformer", "off_clean"), ("roberta", "off_clean")),
    "fig15": (("longformer", TRAINED), ("roberta", TRAINED)),
}
DISABLED_IN = {"fig13": "qkv_in_place", "fig15": "off_in_place"}  # what A holds the learned weights against
SHARES = {"leading_share_centred": "leading share", "leading_share_uncentred": "uncentred share"}
DEPTH = {
    "mean_cosine": "mean cosine",
    "effective_rank_centred": "effective rank",
    "clusters": "clusters",
    "clusters_per_token": "clusters per token",
}


def eigenvalue_curves(spectra: pd.DataFrame) -> pd.DataFrame:
    """Geometric mean over texts of every eigenvalue by layer, with its 95 % interval: the axis is logarithmic."""
    rows = []
    for (covariance, rank, layer), found in spectra.groupby(["covariance", "rank", "layer"]):
        log = mean_interval(np.log(found["eigenvalue"].clip(lower=SMALLEST).to_numpy()))
        ends = {"eigenvalue": np.exp(log.value), "low": np.exp(log.low), "high": np.exp(log.high)}
        rows.append({"covariance": covariance, "rank": rank, "layer": layer} | ends)
    return pd.DataFrame(rows)


def measure_curves(values: pd.Series) -> pd.DataFrame:
    """Mean of a measure by layer with its 95 % interval, from a series indexed by layer and text or seed."""
    rows = [(layer, mean_interval(found.to_numpy(float))) for layer, found in values.groupby(level="layer")]
    return pd.DataFrame([{"layer": layer, "value": one.value, "low": one.low, "high": one.high} for layer, one in rows])


def row_name(item: str, model: str, state: str) -> str:
    """`longformer` for what A shows, `longformer qkv clean` for the others."""
    shown = next(name for kind, name in SPECTRA[item] if kind == model)
    return model if state == shown else f"{model} {state.replace('_', ' ')}"


def spectrum_numbers(
    item: str, measures: Mapping[str, pd.DataFrame], spectra: Mapping[str, pd.DataFrame]
) -> list[dict]:
    """`<row> layer <k>` over paragraphs and `<row> paper text layer <k>`: shares of λ1, λ1/λ2 and effective rank."""
    rows = []
    for model, state in SPECTRA[item]:
        for source, suffix in ((PARAGRAPHS, ""), (PAPER, " paper text")):
            table = chosen(measures[model], state, source).set_index("text")
            gap = gaps(chosen(spectra[model], state, source))
            for layer, name in named(table["layer"]):
                found, row = table[table["layer"] == layer], f"{row_name(item, model, state)}{suffix} {name}"
                rows += [number(row, column, found[measure]) for measure, column in SHARES.items()]
                rows.append(number(row, "lambda1/lambda2", gap.loc[layer]))
                rows.append(number(row, "effective rank", found["effective_rank_centred"]))
    if item in DISABLED_IN:
        rows += learned_numbers(measures["longformer"], DISABLED_IN[item])
    return rows


def learned_numbers(measures: pd.DataFrame, disabled: str) -> list[dict]:
    """`learned - disabled layer <k>`: what the learned weights add to the shares of λ1, paragraph by paragraph."""
    found = [chosen(measures, state, PARAGRAPHS).set_index(["layer", "text"]) for state in (TRAINED, disabled)]
    added = found[0][list(SHARES)] - found[1][list(SHARES)]
    return [
        number(f"learned - disabled {name}", column, added.loc[layer][measure])
        for layer, name in named(added.index.get_level_values("layer"))
        for measure, column in SHARES.items()
    ]


def named(layers: Iterable[int]) -> list[tuple[int, str]]:
    """Every layer with the name of its row; the middle and the last one again, as checkpoints differ in depth."""
    known = sorted(set(layers))
    middle = known[len(known) // 2]
    return [*((layer, f"layer {layer}") for layer in known), (middle, "middle layer"), (known[-1], "last layer")]


def chosen(table: pd.DataFrame, state: str, source: str) -> pd.DataFrame:
    return table[(table["state"] == state) & (table["source"] == source)]


def gaps(spectra: pd.DataFrame) -> pd.Series:
    """λ1/λ2 of the centred covariance, by layer and text."""
    centred = spectra[spectra["covariance"] == "centred"].set_index(["layer", "text", "rank"])["eigenvalue"].unstack()
    return centred[1] / centred[2].clip(lower=SMALLEST)


def replicates(measures: pd.DataFrame, state: str, column: str) -> pd.Series:
    """A measure on the paragraphs by layer and text; for fresh weights by layer and seed, the mean over texts."""
    found = chosen(measures, state, PARAGRAPHS)
    over = "seed" if state == FRESH else "text"
    return found.groupby(["layer", over])[column].mean()


def depth_measures(measures: pd.DataFrame) -> pd.DataFrame:
    return measures.assign(clusters_per_token=measures["clusters"] / measures["tokens"])


def depth_numbers(measures: Mapping[str, pd.DataFrame]) -> list[dict]:
    """`<model> (trained|fresh) layer <k>`."""
    rows = []
    for model, table in measures.items():
        for state in (TRAINED, FRESH):
            for column, name in DEPTH.items():
                values = replicates(depth_measures(table), state, column)
                for layer, place in named(values.index.get_level_values("layer")):
                    rows.append(number(f"{model} {state} {place}", name, values.loc[layer]))
    return rows


def sink_measures(measures: pd.DataFrame) -> pd.DataFrame:
    """Attention to the first token over what uniform attention gives, for the mean and for the strongest head."""
    attended = measures[measures["first_attention"].notna()]
    return attended.assign(
        over_uniform=attended["first_attention"] / attended["uniform"],
        strongest_over_uniform=attended["strongest_head"] / attended["uniform"],
    )


SINKS = {
    "first_attention": "attention to first",
    "uniform": "uniform",
    "over_uniform": "over uniform",
    "strongest_over_uniform": "strongest head over uniform",
}


def uniform_causal(n: int) -> float:
    """(1/(n − 1)) Σ_{i=2..n} 1/i: what tokens after the first give to the first when each sees its past alike."""
    return float((1 / np.arange(2, n + 1)).mean())


def sink_numbers(measures: Mapping[str, pd.DataFrame], runs: Mapping[str, Run]) -> list[dict]:
    """`<model> (trained|fresh)` over all layers, `... layer <k>`, and `simulation <name> t=<time>`."""
    rows = []
    for model, table in measures.items():
        for state in (TRAINED, FRESH):
            for column, name in SINKS.items():
                values = replicates(sink_measures(table), state, column)
                rows.append(number(f"{model} {state}", name, values.groupby(level=1).mean()))
                for layer, found in values.groupby(level="layer"):
                    rows.append(number(f"{model} {state} layer {layer}", name, found.droplevel("layer")))
    for name, run in runs.items():
        uniform = uniform_causal(run.path.shape[1])
        for t in run.snapshots:
            attention, row = run.order["attention_to_first"][run.at(t)], f"simulation {name} t={t:g}"
            rows.append(number(row, "attention to first", attention))
            rows.append(number(row, "uniform", uniform))
            rows.append(number(row, "over uniform", attention / uniform))
    return rows
