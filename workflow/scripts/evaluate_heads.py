"""Rule evaluate_heads: correlations between attention heads, and membrane constants, by layer (S Figures 2 and 7)."""

import pandas as pd
import torch
from safetensors.torch import load_model

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.devices import pick
from clusterlens.metrics.correlation import HeadCorrelation
from clusterlens.models.image_models import build
from clusterlens.models.neurons import time_constants
from clusterlens.training.images import Preparation, load_split


def main(smk):
    torch.set_num_threads(smk.threads)
    architecture, training, device = smk.params.architecture, smk.params.training, pick(smk.params.device)
    classes = architecture["classes"]
    images, _ = load_split(smk.input.images, "test", classes=classes, limit=smk.params.images)
    batches = Preparation(training, classes, device)(images).split(32)
    pairs, layers, constants = [], [], []
    for run, seed, weights in zip(smk.params.runs, smk.params.seeds, smk.input.weights, strict=True):
        model = build(run, architecture).to(device).eval()
        load_model(model, weights)
        measures = [HeadCorrelation(architecture["heads"]) for _ in range(architecture["depth"])]
        with torch.no_grad():
            for batch in batches:
                for measure, maps in zip(measures, model.attention_maps(batch), strict=True):
                    measure.add(maps)
        for layer, measure in enumerate(measures, start=1):
            key = {"run": run, "seed": seed, "layer": layer}
            mean = measure.mean()
            pairs += [
                key | {"head": a + 1, "other": b + 1, "correlation": float(mean[a, b])}
                for a in range(len(mean))
                for b in range(len(mean))
            ]
            layers.append(key | {"mean_correlation": measure.off_diagonal(), "silent_share": measure.silent_share()})
        constants += [{"run": run, "seed": seed, **place} for place in time_constants(model)]
    write_csv(smk.output.pairs, pd.DataFrame(pairs))
    write_csv(smk.output.layers, pd.DataFrame(layers))
    write_csv(smk.output.constants, pd.DataFrame(constants, columns=["run", "seed", "layer", "neuron", "tau"]))
    return {"seeds": sorted(set(smk.params.seeds)), "images": len(images)}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
