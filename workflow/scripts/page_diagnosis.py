"""Rule page_diagnosis: the diagnosis of attention patterns as one page that stands alone (A App. B)."""

import pandas as pd

from clusterlens import job
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import cloud, load, stand_ins
from clusterlens.figures.diagnosis import bars, mask_panels
from clusterlens.figures.diagnosis_page import compose
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.masks import pixel_table
from clusterlens.files import read_json, write_csv, write_text
from clusterlens.metrics.agreement import subject_mask
from clusterlens.metrics.ranking import ranked, summary


def main(smk):
    outcome, stored = read_json(smk.input.outcome), load(smk.input.tokens)
    names = [one["name"] for one in outcome["patterns"] if not one["failure"]]
    number = {one["name"]: place for place, one in enumerate(outcome["patterns"])}
    means, spreads = summary(pd.read_csv(smk.input.measures), names)
    order = [names[0], *ranked(means, names[0])]
    means, spreads = means.loc[order], spreads.loc[order]
    figures = {
        ("Measures side by side", "Grey is global attention; the thin lines are deviations over seeds."): bars(
            means, spreads
        ),
        ("The clouds", "The tokens of the first seed after the last iteration, by cluster."): clouds(
            pd.concat([cloud(stored, str(number[name]), name) for name in order]),
            {name: name for name in order},
            columns=min(4, len(order)),
        ),
    }
    if "image" in stored:
        grid = stored["image"].shape[:2]
        masks = {name: subject_mask(stored[f"labels {number[name]}"], grid) for name in order}
        titles = {name: name for name in order}
        if "mask" in stored:
            masks, titles = {"truth": stored["mask"], **masks}, {"truth": "ground truth", **titles}
        panels = mask_panels(pixel_table(stored["image"], masks), titles)
        figures["The masks", "White is what the clusters take for the subject: what does not fill the border."] = panels
    spectra = pd.read_csv(smk.input.spectra)
    spectra = spectra[spectra["panel"].isin(order) & (spectra["rank"] <= 3)]
    panels = {name: name for name in order[:8]}
    drawn = eigenvalue_panels(spectra, panels, columns=min(4, len(panels)), along="iteration")
    words = "The three largest eigenvalues of the tokens' covariance; one that falls away means a dimension is lost."
    figures["Spectra by iteration", words] = drawn
    html = compose(outcome, means, spreads, figures, smk.params.settings, stand_ins([smk.input.manifest]))
    write_text(smk.output.page, html)
    table = means.rename_axis("pattern").reset_index()
    for column in spreads:
        table[f"{column} ±"] = spreads[column].to_numpy()
    write_csv(smk.output.ranking, table)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
