"""Rule probe_layers: every layer of a checkpoint on the paper's text and on paragraphs, in all its states."""

from pathlib import Path

import torch

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.data.registry import raw_folder
from clusterlens.data.text import read_documents
from clusterlens.devices import give_back_freed_memory, pick
from clusterlens.probing.by_state import probe
from clusterlens.probing.load import load
from clusterlens.probing.numbers import PAPER, PARAGRAPHS
from clusterlens.probing.text import paragraphs


def main(smk):
    torch.set_num_threads(smk.threads)
    give_back_freed_memory()
    asked = smk.params.settings
    folder = str(raw_folder(smk.input.checkpoint))
    checkpoint = load(folder, tokenizer=smk.params.tokenizer, device=pick(smk.params.device))
    most = min(asked["max_tokens"], checkpoint.facts["longest"] or asked["max_tokens"])
    drawn = paragraphs(
        read_documents(Path(smk.input.text)),
        checkpoint.tokenizer,
        count=asked["texts"],
        min_tokens=asked["min_tokens"],
        max_tokens=most,
        seed=asked["seed"],
        joined=True,
    )
    texts = {PAPER: paragraphs([smk.params.text], checkpoint.tokenizer, max_tokens=most), PARAGRAPHS: drawn}
    measures, spectra = probe(
        checkpoint,
        texts,
        fresh_seeds=asked["fresh_seeds"],
        eigenvalues=asked["eigenvalues"],
        batch_size=asked["batch_size"],
    )
    write_csv(smk.output.measures, measures)
    write_csv(smk.output.spectra, spectra)
    return {"checkpoint": checkpoint.facts, "seeds": [asked["seed"], *asked["fresh_seeds"]]}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
