"""Rule vary_choices: global attention on a table under every combination of what A leaves open."""

import torch

from clusterlens import job
from clusterlens.attention.prepared import Table
from clusterlens.attention.sensitivity import vary
from clusterlens.data.formats import write_csv
from clusterlens.logs import log


def main(smk):
    torch.set_num_threads(smk.threads)
    grid = dict(smk.params.grid)
    table = Table.load(*smk.input)
    samples = list(table.samples(grid.pop("samples"), resample=smk.params.resample, seed=smk.params.seed))
    choices = vary(samples, **grid)
    write_csv(smk.output.choices, choices)
    log.info("%d settings: %s", len(choices), choices.iloc[:, 5:].describe().loc[["min", "50%", "max"]].to_dict())
    return {"seeds": [seed for seed, _ in samples]}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
