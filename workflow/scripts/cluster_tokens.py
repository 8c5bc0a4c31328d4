"""Rule cluster_tokens: parameter-free attention on the pixels of the picture or the rows of a table (A §3)."""

import torch

from clusterlens import job
from clusterlens.attention.cases import MODES, Case, cases
from clusterlens.attention.clustering import Clustering, spectrum_rows
from clusterlens.attention.prepared import Table, picture_tokens
from clusterlens.attention.study import follow_all, settle_all
from clusterlens.devices import pick
from clusterlens.logs import log


def main(smk):
    torch.set_num_threads(smk.threads)
    asked = smk.params
    if hasattr(smk.input, "picture"):
        samples, modes = [(0, picture_tokens(smk.input.picture))], ["sdp"]
    else:
        table = Table.load(*smk.input)
        samples, modes = table.samples(asked.samples, resample=asked.resample, seed=asked.seed), list(MODES)
    steps = {"iterations": asked.iterations, "axis": asked.standardise, "device": pick(asked.device)}
    steps |= {"global_tokens": asked.global_tokens}
    clusters = {"clusters": asked.clusters, "radius": asked.fragment_radius, "seed": 0}
    scalings = [Case("longformer", max(asked.windows), mode) for mode in modes]
    measured, spectra, first = {}, {}, None
    for seed, tokens in samples:
        # Clusters under the scaling modes are shown of the first sample only, spectra of all.
        found = settle_all(tokens, cases(asked.windows, ["sdp"] if first else modes), **steps, **clusters)
        states = follow_all(tokens, [case for case in scalings if case.name not in found], **steps)
        states |= {name: one.history for name, one in found.items()}
        spectra |= {(name, seed): spectrum_rows(history) for name, history in states.items()}
        for name, one in found.items():
            measured[name, seed] = one.measures
            log.info("sample %d, %s: %s", seed, name, {key: round(value, 3) for key, value in one.measures.items()})
        first = first or (tokens, found)
    tokens, found = first
    known = {"image": tokens.image, "mask": tokens.mask, "classes": tokens.labels, "features": tokens.features}
    marked = [token % len(tokens.x) for token in asked.global_tokens]
    clustering = Clustering.of(tokens.x, found, measured, spectra, global_tokens=marked, **known)
    clustering.save(smk.output.tokens, smk.output.measures, smk.output.spectra)
    return {"seeds": sorted({seed for _, seed in measured})}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
