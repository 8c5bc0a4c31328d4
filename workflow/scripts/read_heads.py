"""Rule read_heads: the matrices of all heads of a checkpoint's first layer, and their value spectra."""

import torch

from clusterlens import job
from clusterlens.data.formats import write_arrays
from clusterlens.data.registry import raw_folder
from clusterlens.probing.head_weights import heads_of
from clusterlens.probing.heads import effective_beta, sum_eigenvalues, value_eigenvalues
from clusterlens.probing.load import CHARACTERS, load


def main(smk):
    torch.set_num_threads(smk.threads)
    checkpoint = load(str(raw_folder(smk.input.manifest)), tokenizer=CHARACTERS)  # no text is read
    heads = heads_of(checkpoint.model)
    heads.save(smk.output.heads)
    spectra = {
        "single": value_eigenvalues(heads),
        "beta": effective_beta(heads),
        "total": sum_eigenvalues(heads),
        "random": sum_eigenvalues(heads.like(seed=0)),
    }
    write_arrays(smk.output.spectra, spectra)
    return {"checkpoint": checkpoint.facts}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
