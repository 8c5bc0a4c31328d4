"""Rule plot_probed: a figure on pretrained models, from the module of its name in `probed`."""

from importlib import import_module

from clusterlens import job
from clusterlens.figures.output import finish


def main(smk):
    item = import_module(f"clusterlens.probed.{smk.wildcards.paper}_{smk.wildcards.item}")
    files = {name: list(paths) for name, paths in smk.input.items()}
    finish(smk, *item.show(files))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
