"""Rule prepare_checkpoint: check that a checkpoint folder is whole; the models are then read from raw/ itself."""

from clusterlens import job
from clusterlens.data.checkpoints import inspect
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import checked_raw


def main(smk):
    found = inspect(checked_raw(smk.input.raw_manifest))
    return facts_of(smk.params.entry, {}, smk.input.raw_manifest) | found


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
