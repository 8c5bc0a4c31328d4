"""Rule retrieve_dataset: the raw files of one data set, from the mirror, its publisher, the user or inside packages."""

from clusterlens import job
from clusterlens.data.registry import raw_folder
from clusterlens.data.retrieve import retrieve


def main(smk):
    folder = raw_folder(smk.output.manifest)
    return retrieve(smk.wildcards.dataset, smk.params.entry, smk.params.settings, smk.params.mirror, folder)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
