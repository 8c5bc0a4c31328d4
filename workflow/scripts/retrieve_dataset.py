"""Rule retrieve_dataset: the raw files of one data set, from the mirror, its publisher, the user or inside packages."""

from pathlib import Path

from clusterlens import job
from clusterlens.data.retrieve import retrieve


def main(smk):
    return retrieve(
        smk.wildcards.dataset, smk.params.entry, smk.params.settings, smk.params.mirror, Path(smk.output.raw)
    )


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
