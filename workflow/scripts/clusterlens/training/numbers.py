"""The numbers by which S's claims about trained image models are judged: curves, head correlations, membranes."""

from itertools import pairwise

import pandas as pd

from clusterlens.metrics.numbers import numbers
from clusterlens.models.variants import LEARNED, VARIANTS

# Item: (runs of its two panels, what is drawn).
CURVES = {
    "fig3": (("vit", "spikformer"), "accuracy"),
    "fig4": (("vit", "spikformer"), "loss"),
    "fig5": (("vit_no_mlp", "spikformer_no_mlp"), "loss"),
    "fig6": (("vit_no_skip", "spikformer_no_skip"), "loss"),
}
BASELINE = {"fig2": "spikformer", "fig7": "vit"}  # whose heads an item shows


def curve_numbers(metrics: pd.DataFrame, item: str) -> list[dict]:
    """First, final and best values, volatility and speed of the item's two runs."""
    rows = []
    for run in CURVES[item][0]:
        curves = [seed.sort_values("epoch") for _, seed in metrics[metrics["run"] == run].groupby("seed")]
        rows += numbers(VARIANTS[run], pd.DataFrame([describe(curve) for curve in curves]))
    return rows


def describe(curve: pd.DataFrame) -> dict[str, float]:
    top1, loss = curve["top1"].to_numpy(), curve["val_loss"].to_numpy()
    drops = [before - after for before, after in pairwise(top1) if after < before]
    return {
        "first accuracy": top1[0],
        "final accuracy": top1[-1],
        "best accuracy": top1.max(),
        "first loss": loss[0],
        "final loss": loss[-1],
        "volatility": sum(drops) / len(drops) if drops else 0.0,
        "epochs to 90 %": float(curve["epoch"].to_numpy()[(top1 >= 0.9 * top1.max()).argmax()]),
    }


def head_numbers(layers: pd.DataFrame, item: str) -> list[dict]:
    """`layer <k>` of the baseline; for Spikformer also how far the ablations move the mean over layers."""
    run = BASELINE[item]
    rows = []
    for layer, seeds in layers[layers["run"] == run].groupby("layer"):
        described = seeds.rename(columns={"mean_correlation": "mean correlation", "silent_share": "silent heads"})
        rows += numbers(f"layer {layer}", described[["mean correlation", "silent heads"]])
    if item == "fig2":
        means = layers.groupby(["run", "seed"])["mean_correlation"].mean()
        for label, ablated in (("no MLP", "spikformer_no_mlp"), ("no skip", "spikformer_no_skip")):
            rows += numbers(label, (means[ablated] - means[run]).abs().rename("change").to_frame())
    return rows


def membrane_numbers(
    layers: pd.DataFrame, final: pd.DataFrame, particles: pd.DataFrame, constants: pd.DataFrame
) -> list[dict]:
    """`fixed`, `learned`, `change`: accuracy and last layer's correlation; the constants; the particles at the end."""
    last = layers[layers["layer"] == layers["layer"].max()].set_index(["run", "seed"])["mean_correlation"]
    rows = []
    for label, run in (("fixed", "spikformer"), ("learned", LEARNED)):
        table = pd.DataFrame({"Top-1 (%)": final.loc[run, "Top-1 (%)"], "last layer correlation": last[run]})
        rows += numbers(label, table)
    change = (last[LEARNED] - last["spikformer"]).abs()
    rows += numbers("change", {"last layer correlation": change})
    for layer, tau in constants[constants["run"] == LEARNED].groupby("layer")["tau"]:
        rows += numbers(f"layer {layer}", {"tau": tau})
    end = particles[particles["time"] == particles["time"].max()]
    for system, seeds in end.groupby("system", sort=False):
        rows += numbers(f"particles {system}", {"mean cosine": seeds["mean_cosine"], "clusters": seeds["clusters"]})
    return rows
