"""Rule plot_attention: any figure of A's simulation study, from the module of its name in `clustered`."""

from importlib import import_module

from clusterlens import job
from clusterlens.figures.output import finish


def main(smk):
    item = import_module(f"clusterlens.clustered.{smk.wildcards.item}")
    files = {dataset: list(paths) for dataset, paths in smk.input.items()}
    finish(smk, *item.show(files, **smk.params.get("settings", {})))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
