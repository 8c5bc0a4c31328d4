"""Rule plot_scaling_clouds: Longformer's pattern on the two tables under four scaling modes (A Fig. 8)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures import style
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import DATA_NAMES, cloud, load, stand_ins
from clusterlens.figures.scaling_modes import MODE_TITLES, case_of, gap_numbers
from clusterlens.files import read_json, write_csv


def main(smk):
    window = max(smk.params.windows)
    parts, titles, rows = [], {}, []
    inputs = zip(smk.params.names, smk.input.tokens, smk.input.spectra, smk.input.manifests, strict=True)
    for name, tokens, spectra_file, manifest in inputs:
        stored, spectra = load(tokens), pd.read_csv(spectra_file)
        last = int(spectra["iteration"].max())
        gaps = gap_numbers(spectra, DATA_NAMES[name], window, [last])
        ratio = {row: value for row, column, value, *_ in gaps if column.endswith("3")}
        for mode, title in MODE_TITLES.items():
            panel = f"{DATA_NAMES[name]} {mode}"
            points = cloud(stored, case_of(mode, window), panel)
            tokens_shown = [token % len(points) for token in smk.params.global_tokens[name]]
            parts.append(points.assign(star=points["token"].isin(tokens_shown).astype(int)))
            titles[panel] = f"{DATA_NAMES[name]}: {title}\nλ1/λ3 = {ratio[f'{panel} t={last}']:,.0f}"
        rows += gaps
        for case, difference in read_json(manifest)["differences"].items():
            mode = case.removeprefix(f"longformer {window}").strip() or "sdp"
            rows.append((f"{DATA_NAMES[name]} {mode}", "largest difference from sdp", difference, "", 1))
    points = pd.concat(parts)
    figure = clouds(points, titles, columns=len(MODE_TITLES))
    style.note(figure, style.stand_in_note(stand_ins(smk.input.manifests)))
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points)
    write_csv(smk.output.numbers, pd.DataFrame(rows, columns=["row", "column", "value", "spread", "seeds"]))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
