"""Rule diagnose_patterns: attention patterns on any tokens, compared with global attention (A App. B)."""

import torch

from clusterlens import job
from clusterlens.attention.clustering import Clustering, spectrum_rows
from clusterlens.attention.diagnosis import candidates, diagnose
from clusterlens.attention.tokens import Tokens, from_image, from_matrix, from_table, of_hidden
from clusterlens.data.diagnosed import own_files
from clusterlens.devices import pick
from clusterlens.files import read_json, write_json


def read_tokens(data: dict, example: list[str], limit: int, device: str) -> Tokens:
    """The tokens that the config names; without any, the sample of the diabetes table."""
    if data["table"]:
        return from_table(data["table"], data["columns"], data["label"], limit=limit)
    if data["image"]:
        return from_image(data["image"], data["mask"], limit=limit)
    if data["matrix"]:
        return from_matrix(data["matrix"], limit=limit)
    if data["checkpoint"]:
        from clusterlens.probing.hidden import hidden_states  # transformers is slow to import

        chosen = {"layer": data["layer"], "tokenizer": data["tokenizer"], "limit": limit, "device": pick(device)}
        return of_hidden(*hidden_states(data["checkpoint"], data["text"], **chosen), limit=limit)
    sample, manifest = example
    facts = read_json(manifest)
    return from_table(sample, facts["features"], facts["label"], limit=limit)


def main(smk):
    torch.set_num_threads(smk.threads)
    settings = smk.params.settings
    tokens = read_tokens(settings["data"], list(smk.input.example), settings["max_tokens"], smk.params.device)
    findings = diagnose(
        tokens,
        candidates(settings["patterns"], own_files(settings)),
        seeds=settings["seeds"],
        time_limit=settings["time_limit"],
        clusters=settings["clusters"],
        iterations=settings["iterations"],
        axis=settings["standardise"],
        radius=settings["fragment_radius"],
    )
    settled = {finding.name: finding.first for finding in findings if not finding.failure}
    measured = {(one.name, seed): found for one in findings for seed, found in one.measures.items()}
    spectra = {(name, settings["seeds"][0]): spectrum_rows(one.history) for name, one in settled.items()}
    clustering = Clustering.of(tokens.x, settled, measured, spectra, image=tokens.image, mask=tokens.mask)
    clustering.save(smk.output.tokens, smk.output.measures, smk.output.spectra)
    outcome = {
        "data": tokens.about,
        "tokens": len(tokens.x),
        "ordered": tokens.ordered,
        "patterns": [
            {"name": one.name, "about": one.candidate.about, "failure": one.failure, "cost": one.cost}
            for one in findings
        ],
    }
    write_json(smk.output.outcome, outcome)
    return {"seeds": settings["seeds"], "failures": {one.name: one.failure for one in findings if one.failure}}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
