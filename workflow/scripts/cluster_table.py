"""Rule cluster_table: parameter-free attention on a table, every pattern and scaling mode (A, Data B and C)."""

import numpy as np
import pandas as pd
import torch

from clusterlens import job
from clusterlens.attention import records
from clusterlens.attention.study import Truth, cases, cluster_all
from clusterlens.data.formats import write_arrays
from clusterlens.data.tables import balanced_sample
from clusterlens.devices import pick
from clusterlens.files import read_json, write_csv
from clusterlens.logs import log
from clusterlens.metrics.standard import zscore


def main(smk):
    torch.set_num_threads(smk.threads)
    study, data = smk.params.study, smk.params.data
    facts = read_json(smk.input.manifest)
    features, label = facts["features"], facts["label"]
    table, drawn = pd.read_csv(smk.input.table), pd.read_csv(smk.input.sample)
    signs = np.sign(table[features].corrwith(table[label]).to_numpy())
    settings = {"iterations": study["iterations"], "over": study["standardise"], "device": pick(smk.params.device)}
    settings |= {"radius": study["fragment_radius"], "seed": 0}
    seeds = [data["seed"] + number for number in range(study["samples"])]
    tables = []
    for number, seed in enumerate(seeds):
        sample = balanced_sample(table, label, data["samples_per_class"], seed) if number else drawn
        x, truth = zscore(sample[features].to_numpy(float)), Truth(labels=sample[label].to_numpy(), signs=signs)
        chosen = cases(study["windows"], len(x), smk.params.global_tokens, modes=not number)
        found = cluster_all(x, smk.params.clusters, chosen, truth, **settings)
        tables.append(records.measures(found, seed))
        shown = found["global"]["measures"]
        log.info("sample %d: global %s", seed, {name: round(value, 3) for name, value in shown.items()})
        if not number:
            first = found
            linked, lead, share = records.link_table(
                found["global"], least=study["link_threshold"], most=study["links"]
            )
            stored = {**records.arrays(found), "truth": truth.labels.astype(np.int16), "leaders": lead}
            write_arrays(smk.output.tokens, stored)
            write_csv(smk.output.spectra, records.spectrum_table(found))
            write_csv(smk.output.links, linked)
    write_csv(smk.output.measures, pd.concat(tables))
    largest = f"longformer {max(study['windows'])}"
    return {
        "seeds": seeds,
        "features": features,
        "label": label,
        "link_share": share,
        "differences": records.differences(first, largest),
    }


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
