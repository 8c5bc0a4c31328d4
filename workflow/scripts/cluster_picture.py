"""Rule cluster_picture: parameter-free attention on the pixels of the picture, every pattern (A, Data A)."""

from pathlib import Path

import torch

from clusterlens import job
from clusterlens.attention import records
from clusterlens.attention.study import Truth, cases, cluster_all
from clusterlens.data.formats import read_picture, write_arrays
from clusterlens.devices import pick
from clusterlens.files import write_csv
from clusterlens.logs import log
from clusterlens.metrics.standard import zscore


def main(smk):
    torch.set_num_threads(smk.threads)
    study = smk.params.study
    image, mask = read_picture(Path(smk.input.picture))
    pixels = zscore(image.reshape(-1, image.shape[-1]).astype(float))
    chosen = cases(study["windows"], len(pixels), smk.params.global_tokens, modes=False)
    settings = {"iterations": study["iterations"], "over": study["standardise"], "device": pick(smk.params.device)}
    settings |= {"radius": study["fragment_radius"], "seed": 0}
    found = cluster_all(pixels, smk.params.clusters, chosen, Truth(mask=mask), **settings)
    for name, result in found.items():
        log.info("%s %s", name, {key: round(value, 3) for key, value in result["measures"].items()})
    write_arrays(smk.output.tokens, {**records.arrays(found), "image": image, "truth": mask})
    write_csv(smk.output.measures, records.measures(found, 0))
    return {"seeds": [0]}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
