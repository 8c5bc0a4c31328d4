"""Rule plot_turnable: the 3-D runs of a simulated item as one HTML page that can be turned by hand, offline."""

from pathlib import Path

from clusterlens import job
from clusterlens.figures.particle_data import load
from clusterlens.figures.particle_films import FILMS
from clusterlens.figures.particle_viewer import page, view
from clusterlens.files import write_text


def main(smk):
    runs = load(smk.input.arrays)
    panels = FILMS[smk.wildcards.paper, smk.wildcards.item]
    views = [
        view(runs[index], title, first=first) for index, _, title, first in panels if runs[index].path.shape[2] == 3
    ]
    template = Path(smk.input.template).read_text(encoding="utf-8")
    write_text(smk.output.page, page(template, f"{smk.wildcards.paper} · {smk.wildcards.item}", views))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
