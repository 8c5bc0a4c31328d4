"""Rule simulate_particles: run the systems of one item and keep their paths and order parameters."""

import numpy as np
import torch

from clusterlens import devices, job
from clusterlens.files import replacing
from clusterlens.particles.record import record


def main(smk):
    torch.set_num_threads(smk.threads)
    device = devices.pick(smk.params.device)
    arrays = record(smk.params.settings, dtype=smk.params.dtype, device=device)
    with replacing(smk.output.arrays) as file:
        np.savez_compressed(file, **arrays)
    return {"seeds": smk.params.settings["seeds"], "device": device}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
