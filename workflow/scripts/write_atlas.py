"""Rule write_atlas: every result with its caption, claims, numbers and provenance as a static site."""

from pathlib import Path

from clusterlens import job
from clusterlens.atlas.collect import collect
from clusterlens.atlas.findings import read_findings
from clusterlens.atlas.pages import write_pages
from clusterlens.atlas.report import landing
from clusterlens.files import write_text


def main(smk):
    tree = Path(smk.input.claims).parent
    atlas = collect(tree, findings=read_findings(), label=smk.params.label)
    write_pages(atlas, Path(smk.output.index).parent)
    write_text(smk.output.report, landing(Path(smk.input.picture)))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
