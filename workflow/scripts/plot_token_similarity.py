"""Rule plot_token_similarity: similarity of tokens by layer, beside the correlation of heads (S Sections 6.5 and 7)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures.output import finish
from clusterlens.figures.tokens import plot_tokens
from clusterlens.training.numbers import token_numbers


def main(smk):
    place = ["run", "seed", "state", "layer"]
    tokens = pd.read_csv(smk.input.tokens).merge(pd.read_csv(smk.input.layers), how="left", on=place)
    finish(smk, plot_tokens(tokens), tokens, token_numbers(tokens))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
