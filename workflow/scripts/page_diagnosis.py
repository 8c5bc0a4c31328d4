"""Rule page_diagnosis: the diagnosis of attention patterns as one page that stands alone (A App. B)."""

import textwrap

import pandas as pd

from clusterlens import job
from clusterlens.attention.clustering import Clustering
from clusterlens.data.formats import write_csv
from clusterlens.figures.clouds import clouds
from clusterlens.figures.cluster_points import cloud
from clusterlens.figures.diagnosis import by_pattern, mask_panels, trade_off
from clusterlens.figures.diagnosis_page import compose, shares
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.masks import pixel_table
from clusterlens.files import read_json, write_text
from clusterlens.metrics.agreement import subject_mask
from clusterlens.metrics.numbers import INTERVAL
from clusterlens.metrics.ranking import places, ranked, summary
from clusterlens.provenance import labels


def main(smk):
    outcome = read_json(smk.input.outcome)
    found = Clustering.load(smk.input.tokens, smk.input.measures, smk.input.spectra)
    names = list(found.final)
    means, intervals = summary(found.measures, names)
    order = [names[0], *ranked(means, names[0])]
    means, intervals = means.loc[order], intervals.loc[order]
    titles = {name: textwrap.fill(name, 22) for name in order}
    points = pd.concat([cloud(found, name, name) for name in order])
    base = outcome["patterns"][0]["cost"]
    costs = {one["name"]: shares(one["cost"], base) for one in outcome["patterns"] if not one["failure"]}
    figures = {
        "Agreement against cost": (
            "Means with 95 % intervals over seeds; up and to the left is better.",
            trade_off(found.measures, pd.DataFrame(costs).T.astype(float).loc[order]),
        ),
        "Measures by pattern": (
            "Grey: one seed each. Blue: mean and 95 % interval. Dotted: global attention.",
            by_pattern(found.measures, order),
        ),
        "The clouds": (
            "The tokens of the first seed after the last iteration, coloured by cluster.",
            clouds(points, titles, columns=min(4, len(order))),
        ),
    }
    if "image" in found.known:
        image = found.known["image"]
        masks = {name: subject_mask(found.labels[name], image.shape[:2]) for name in order}
        if "mask" in found.known:
            masks, titles = {"truth": found.known["mask"], **masks}, {"truth": "ground truth", **titles}
        figures["The masks"] = (
            "White: the clusters taken as the subject, those that do not fill the border.",
            mask_panels(pixel_table(image, masks), titles),
        )
    spectra = found.spectra[found.spectra["rank"] <= 3].rename(columns={"pattern": "panel"})
    panels = {name: titles[name] for name in order[:8]}
    figures["Spectra by iteration"] = (
        "The three largest eigenvalues of the tokens' covariance; one that falls to 0 means that a dimension is lost.",
        eigenvalue_panels(spectra, panels, columns=min(4, len(panels)), along="iteration"),
    )
    html = compose(outcome, found.measures, (means, intervals), figures, smk.params.settings, labels(smk.input))
    write_text(smk.output.page, html)
    place = places(found.measures, order[1:])
    table = means.join(intervals.add_suffix(INTERVAL)).rename_axis("pattern").reset_index()
    table.insert(1, "place", table["pattern"].map(place).fillna("baseline"))
    write_csv(smk.output.ranking, table)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
