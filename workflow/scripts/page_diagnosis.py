"""Rule page_diagnosis: the diagnosis of attention patterns as one page that stands alone (A App. B)."""

import pandas as pd

from clusterlens import job
from clusterlens.attention.clustering import Clustering
from clusterlens.data.formats import write_csv
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import cloud
from clusterlens.figures.diagnosis import bars, mask_panels
from clusterlens.figures.diagnosis_page import compose
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.masks import pixel_table
from clusterlens.files import read_json, write_text
from clusterlens.metrics.agreement import subject_mask
from clusterlens.metrics.numbers import INTERVAL
from clusterlens.metrics.ranking import ranked, summary
from clusterlens.provenance import labels


def main(smk):
    outcome = read_json(smk.input.outcome)
    found = Clustering.load(smk.input.tokens, smk.input.measures, smk.input.spectra)
    names = list(found.final)
    means, intervals = summary(found.measures, names)
    order = [names[0], *ranked(means, names[0])]
    means, intervals = means.loc[order], intervals.loc[order]
    titles = {name: name for name in order}
    points = pd.concat([cloud(found, name, name) for name in order])
    figures = {
        ("Measures side by side", "Grey is global attention; the thin lines are 95 % intervals over seeds."): bars(
            means, intervals
        ),
        ("The clouds", "The tokens of the first seed after the last iteration, by cluster."): clouds(
            points, titles, columns=min(4, len(order))
        ),
    }
    if "image" in found.known:
        image = found.known["image"]
        masks = {name: subject_mask(found.labels[name], image.shape[:2]) for name in order}
        if "mask" in found.known:
            masks, titles = {"truth": found.known["mask"], **masks}, {"truth": "ground truth", **titles}
        panels = mask_panels(pixel_table(image, masks), titles)
        figures["The masks", "White is what the clusters take for the subject: what does not fill the border."] = panels
    spectra = found.spectra[found.spectra["rank"] <= 3].rename(columns={"pattern": "panel"})
    panels = {name: name for name in order[:8]}
    drawn = eigenvalue_panels(spectra, panels, columns=min(4, len(panels)), along="iteration")
    words = "The three largest eigenvalues of the tokens' covariance; one that falls away means a dimension is lost."
    figures["Spectra by iteration", words] = drawn
    html = compose(outcome, means, intervals, figures, smk.params.settings, labels(smk.input))
    write_text(smk.output.page, html)
    write_csv(smk.output.ranking, means.join(intervals.add_suffix(INTERVAL)).rename_axis("pattern").reset_index())


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
