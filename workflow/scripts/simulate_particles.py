"""Rule simulate_particles: run the systems of one item and keep their paths and order parameters."""

import torch

from clusterlens import devices, job
from clusterlens.particles import runs
from clusterlens.particles.record import record


def main(smk):
    torch.set_num_threads(smk.threads)
    device = devices.pick(smk.params.device)
    runs.save(smk.output.arrays, record(smk.params.settings, dtype=smk.params.dtype, device=device))
    return {"seeds": smk.params.settings["seeds"], "device": device}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
