"""Rule cluster_tokens: parameter-free attention on the pixels of the picture or the rows of a table (A §3)."""

import torch

from clusterlens import job
from clusterlens.attention.cases import MODES, cases
from clusterlens.attention.clustering import Clustering
from clusterlens.attention.prepared import Table, picture_tokens
from clusterlens.attention.study import settle_all
from clusterlens.devices import pick
from clusterlens.logs import log


def main(smk):
    torch.set_num_threads(smk.threads)
    asked = smk.params
    if hasattr(smk.input, "picture"):
        samples, modes = [(0, picture_tokens(smk.input.picture))], ["sdp"]
    else:
        table = Table.load(*smk.input)
        samples, modes = table.samples(asked.samples, per_class=asked.samples_per_class, seed=asked.seed), list(MODES)
    settings = {"clusters": asked.clusters, "iterations": asked.iterations, "axis": asked.standardise}
    settings |= {"radius": asked.fragment_radius, "seed": 0, "device": pick(asked.device)}
    measured, first = {}, None
    for seed, tokens in samples:
        # The scaling modes are compared on the sample that figures show, the first.
        chosen = cases(asked.windows, ["sdp"] if first else modes)
        found = settle_all(tokens, chosen, global_tokens=asked.global_tokens, **settings)
        for name, one in found.items():
            measured[name, seed] = one.measures
            log.info("sample %d, %s: %s", seed, name, {key: round(value, 3) for key, value in one.measures.items()})
        first = first or (tokens, found)
    tokens, found = first
    known = {"image": tokens.image, "mask": tokens.mask, "classes": tokens.labels, "features": tokens.features}
    marked = [token % len(tokens.x) for token in asked.global_tokens]
    clustering = Clustering.of(tokens.x, found, measured, global_tokens=marked, **known)
    clustering.save(smk.output.tokens, smk.output.measures, smk.output.spectra)
    return {"seeds": sorted({seed for _, seed in measured})}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
