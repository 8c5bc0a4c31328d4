"""The numbers by which S's claims about trained image models are judged: curves, heads, tokens, membranes."""

from itertools import pairwise

import numpy as np
import pandas as pd

from clusterlens.metrics.numbers import number, numbers
from clusterlens.models.variants import LEARNED, NAMES, VARIANTS

# Item: (runs of its two panels, what is drawn).
CURVES = {
    "fig3": (("vit", "spikformer"), "accuracy"),
    "fig4": (("vit", "spikformer"), "loss"),
    "fig5": (("vit_no_mlp", "spikformer_no_mlp"), "loss"),
    "fig6": (("vit_no_skip", "spikformer_no_skip"), "loss"),
}
COMPARED = {"fig5": ("vit", "spikformer")}  # further runs whose numbers an item gives
BASELINE = {"fig2": "spikformer", "fig7": "vit"}  # whose heads an item shows
# Row: (run, run it is compared with); the difference is taken layer by layer and seed by seed.
DIFFERENCES = {
    f"{NAMES[run]} minus baseline": (run, run.split("_")[0]) for run in NAMES if run not in ("vit", "spikformer")
} | {"Baseline Spikformer minus Baseline ViT": ("spikformer", "vit")}


def curve_numbers(metrics: pd.DataFrame, item: str) -> list[dict]:
    """First, final and best values and speed of the item's runs; unsteadiness as a whole and in each half."""
    rows = []
    for run in (*CURVES[item][0], *COMPARED.get(item, ())):
        curves = {seed: curve.sort_values("epoch") for seed, curve in metrics[metrics["run"] == run].groupby("seed")}
        whole = {seed: progress(curve) | unsteadiness(curve) for seed, curve in curves.items()}
        rows += numbers(VARIANTS[run], pd.DataFrame.from_dict(whole, orient="index"))
        for name, part in (("first half", first_half), ("second half", second_half)):
            halves = {seed: unsteadiness(part(curve)) for seed, curve in curves.items()}
            rows += numbers(f"{VARIANTS[run]}, {name}", pd.DataFrame.from_dict(halves, orient="index"))
    return rows


def first_half(curve: pd.DataFrame) -> pd.DataFrame:
    """The steps from epoch to epoch are halved, so that the epoch in the middle ends one half and begins the other."""
    return curve.iloc[: len(curve) // 2 + 1]


def second_half(curve: pd.DataFrame) -> pd.DataFrame:
    return curve.iloc[len(curve) // 2 :]


def progress(curve: pd.DataFrame) -> dict[str, float]:
    top1, loss = curve["top1"].to_numpy(), curve["val_loss"].to_numpy()
    return {
        "first accuracy": top1[0],
        "final accuracy": top1[-1],
        "best accuracy": top1.max(),
        "first loss": loss[0],
        "final loss": loss[-1],
        "epochs to 90 %": float(curve["epoch"].to_numpy()[(top1 >= 0.9 * top1.max()).argmax()]),
    }


def unsteadiness(curve: pd.DataFrame) -> dict[str, float]:
    """Mean drop of the accuracy where it falls, in points, and share of epochs in which the validation loss rises."""
    drops = [before - after for before, after in pairwise(curve["top1"]) if after < before]
    rises = [after > before for before, after in pairwise(curve["val_loss"])]
    return {
        "volatility": sum(drops) / len(drops) if drops else 0.0 if rises else np.nan,
        "rising epochs": float(np.mean(rises)) if rises else np.nan,
    }


def trained_heads(path: str) -> pd.DataFrame:
    """Heads by layer without those of the untrained models."""
    layers = pd.read_csv(path)
    return layers[layers["state"] == "trained"].drop(columns="state")


def head_numbers(layers: pd.DataFrame, item: str) -> list[dict]:
    """`layer <k>` and `all layers` of the baseline; for Spikformer also its ablations minus itself."""
    run = BASELINE[item]
    columns = {"mean_correlation": "mean correlation", "silent_share": "silent heads"}
    own = layers[layers["run"] == run].set_index("seed").rename(columns=columns)
    rows = []
    for layer, seeds in own.groupby("layer"):
        rows += numbers(f"layer {layer}", seeds[list(columns.values())])
    rows += numbers("all layers", own.groupby(level="seed")[list(columns.values())].mean())
    if item == "fig2":
        for label, ablated in (("no MLP", "spikformer_no_mlp"), ("no skip", "spikformer_no_skip")):
            rows.append(number(label, "change", layer_difference(layers, ablated, run, "mean_correlation")))
    return rows


def layer_difference(layers: pd.DataFrame, run: str, base: str, column: str) -> pd.Series:
    """By seed: one run minus another, averaged over the layers in which both have the quantity."""
    by_layer = layers.set_index(["run", "seed", "layer"])[column]
    return (by_layer[run] - by_layer[base]).groupby(level="seed").mean()


def token_numbers(tokens: pd.DataFrame) -> list[dict]:
    """By variant and layer, trained and untrained; then differences between variants, and what training adds."""
    columns = {"mean_cosine": "mean cosine", "effective_rank": "effective rank", "mean_correlation": "head correlation"}
    shown = {**columns, "silent_tokens": "silent tokens"}
    rows = []
    for (state, run, layer), seeds in tokens.groupby(["state", "run", "layer"], sort=False):
        prefix = "untrained " if state == "untrained" else ""
        described = seeds.set_index("seed").rename(columns=shown)[list(shown.values())]
        present = described if layer else described.drop(columns="head correlation")
        rows += numbers(f"{prefix}{NAMES[run]} layer {layer}", present)
    blocks = tokens[tokens["layer"] > 0]  # layer 0 are the patches as embedded
    trained = blocks[blocks["state"] == "trained"]
    for run, seeds in trained.groupby("run", sort=False):
        means = seeds.rename(columns=shown).groupby("seed")[list(shown.values())].mean()
        rows += numbers(f"{NAMES[run]} all layers", means)
    for label, (run, base) in DIFFERENCES.items():
        rows += [number(label, name, layer_difference(trained, run, base, column)) for column, name in columns.items()]
    for run, name in NAMES.items():
        states = blocks[blocks["run"] == run].assign(run=lambda table: table["state"])
        for column, quantity in columns.items():
            rows.append(
                number(f"{name} minus untrained", quantity, layer_difference(states, "trained", "untrained", column))
            )
    return rows


def membrane_numbers(
    layers: pd.DataFrame, final: pd.DataFrame, particles: pd.DataFrame, constants: pd.DataFrame
) -> list[dict]:
    """`fixed`, `learned`, `change` (their difference): accuracy and last layer's correlation; constants, particles."""
    last = layers[layers["layer"] == layers["layer"].max()].set_index(["run", "seed"])["mean_correlation"]
    runs = {"fixed": "spikformer", "learned": LEARNED}
    tables = {
        label: pd.DataFrame({"Top-1 (%)": final.loc[run, "Top-1 (%)"], "last layer correlation": last[run]})
        for label, run in runs.items()
    }
    tables["change"] = tables["learned"] - tables["fixed"]
    rows = [row for label, table in tables.items() for row in numbers(label, table)]
    learned = constants[constants["run"] == LEARNED].groupby(["layer", "seed"])["tau"].mean()
    for layer, tau in learned.groupby(level="layer"):
        rows.append(number(f"layer {layer}", "tau", tau.droplevel("layer")))
    end = particles[particles["time"] == particles["time"].max()].set_index("seed")
    for system, seeds in end.groupby("system", sort=False):
        rows += numbers(f"particles {system}", {"mean cosine": seeds["mean_cosine"], "clusters": seeds["clusters"]})
    return rows
