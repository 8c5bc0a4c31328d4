"""Rule plot_scaling_spectra: covariance eigenvalues by iteration under four scaling modes (A Fig. 9)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.cluster_points import DATA_NAMES, stand_ins
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.scaling_modes import MODE_TITLES, case_of, gap_numbers
from clusterlens.files import write_csv


def main(smk):
    window = max(smk.params.windows)
    parts, titles, rows = [], {}, []
    for name, path in zip(smk.params.names, smk.input.spectra, strict=True):
        spectra = pd.read_csv(path)
        rows += gap_numbers(spectra, DATA_NAMES[name], window, sorted(spectra["iteration"].unique()))
        for mode, title in MODE_TITLES.items():
            panel = f"{DATA_NAMES[name]} {mode}"
            parts.append(spectra[spectra["case"] == case_of(mode, window)].assign(panel=panel))
            titles[panel] = f"{DATA_NAMES[name]}: {title}"
    points = pd.concat(parts)
    figure = eigenvalue_panels(points, titles, columns=len(MODE_TITLES), along="iteration")
    style.note(figure, style.stand_in_note(stand_ins(smk.input.manifests)))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points.drop(columns="case"))
    write_csv(smk.output.numbers, pd.DataFrame(rows, columns=["row", "column", "value", "spread", "seeds"]))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
