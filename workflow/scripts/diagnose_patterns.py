"""Rule diagnose_patterns: attention patterns on any tokens, held against global attention (A App. B)."""

import numpy as np
import pandas as pd
import torch

from clusterlens import job
from clusterlens.attention.diagnosis import candidates, diagnose
from clusterlens.attention.study import spectra
from clusterlens.attention.tokens import from_image, from_matrix, from_table
from clusterlens.data.diagnosed import own_files
from clusterlens.data.formats import write_arrays
from clusterlens.files import read_json, write_csv, write_json


def read_tokens(data: dict, example: list[str], most: int):
    """The tokens that the config names; without any, the sample of the diabetes table."""
    if data["table"]:
        return from_table(data["table"], data["columns"], data["label"], most=most)
    if data["image"]:
        return from_image(data["image"], data["mask"], most=most)
    if data["matrix"]:
        return from_matrix(data["matrix"], most=most)
    sample, manifest = example
    facts = read_json(manifest)
    return from_table(sample, facts["features"], facts["label"], most=most)


def main(smk):
    torch.set_num_threads(smk.threads)
    settings = smk.params.settings
    tokens = read_tokens(settings["data"], list(smk.input.example), settings["max_tokens"])
    findings = diagnose(
        tokens,
        candidates(settings["patterns"], own_files(settings)),
        how=settings["clusters"],
        seeds=settings["seeds"],
        iterations=settings["iterations"],
        over=settings["standardise"],
        radius=settings["fragment_radius"],
        limit=settings["time_limit"],
    )
    stored, measured, eigenvalues = {"start": tokens.x.astype(np.float32)}, [], []
    if tokens.image is not None:
        stored["image"] = tokens.image
    if tokens.mask is not None:
        stored["mask"] = tokens.mask
    for number, finding in enumerate(findings):
        name = finding.candidate.name
        for seed, values in zip(settings["seeds"], finding.measures, strict=False):
            measured += [(name, seed, measure, value) for measure, value in values.items()]
        if finding.history is not None and not finding.failure:
            stored[f"tokens {number}"] = finding.history[-1].astype(np.float32)
            stored[f"labels {number}"] = finding.labels.astype(np.int16)
            eigenvalues += [(name, *row) for row in spectra(finding.history) if row[2] <= 5]
    write_arrays(smk.output.tokens, stored)
    write_csv(smk.output.measures, pd.DataFrame(measured, columns=["pattern", "seed", "measure", "value"]))
    columns = ["panel", "iteration", "covariance", "rank", "eigenvalue"]
    write_csv(smk.output.spectra, pd.DataFrame(eigenvalues, columns=columns))
    outcome = {
        "data": tokens.about,
        "tokens": len(tokens.x),
        "ordered": tokens.ordered,
        "patterns": [
            {"name": f.candidate.name, "about": f.candidate.about, "failure": f.failure, "cost": f.cost}
            for f in findings
        ],
    }
    write_json(smk.output.outcome, outcome)
    return {"seeds": settings["seeds"], "failures": {f.candidate.name: f.failure for f in findings if f.failure}}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
