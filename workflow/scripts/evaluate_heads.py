"""Rule evaluate_heads: heads and tokens by layer, operations, membrane constants of all models (S Figures 2 and 7)."""

import pandas as pd
import torch
from safetensors.torch import load_model

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.devices import pick
from clusterlens.models.image_models import build
from clusterlens.models.inside import describe_layers, operations, untrained
from clusterlens.models.neurons import time_constants
from clusterlens.training.images import Preparation, load_split


def main(smk):
    torch.set_num_threads(smk.threads)
    architecture, training, device = smk.params.architecture, smk.params.training, pick(smk.params.device)
    classes = architecture["classes"]
    trained, split = training["train_images"], training["evaluate_on"]
    images, _ = load_split(smk.input.images, split, classes=classes, limit=smk.params.images, trained=trained)
    batches = Preparation(training, classes, device)(images).split(32)
    pairs, layers, tokens, counts, constants = [], [], [], [], []
    for run, seed, weights in zip(smk.params.runs, smk.params.seeds, smk.input.weights, strict=True):
        trained = build(run, architecture).to(device).eval()
        load_model(trained, weights)
        start = untrained(run, architecture, seed=seed, images=batches[0])
        for state, model in (("trained", trained), ("untrained", start)):
            key = {"run": run, "seed": seed, "state": state}
            similarities, heads = describe_layers(model, batches)
            tokens += [key | {"layer": layer} | one.measures() for layer, one in enumerate(similarities)]
            for layer, one in enumerate(heads, start=1):
                place, measured = key | {"layer": layer}, {"silent_share": one.silent_share()}
                layers.append(place | {"mean_correlation": one.off_diagonal()} | measured)
                pairs += [place | pair for pair in one.pairs()] if state == "trained" else []
        counts.append({"run": run, "seed": seed} | operations(trained, batches))
        constants += [{"run": run, "seed": seed, **place} for place in time_constants(trained)]
    write_csv(smk.output.pairs, pd.DataFrame(pairs))
    write_csv(smk.output.layers, pd.DataFrame(layers))
    write_csv(smk.output.tokens, pd.DataFrame(tokens))
    write_csv(smk.output.operations, pd.DataFrame(counts))
    write_csv(smk.output.constants, pd.DataFrame(constants, columns=["run", "seed", "layer", "neuron", "tau"]))
    return {"seeds": sorted(set(smk.params.seeds)), "images": len(images)}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
