"""Rule train_model: one of S's models with one seed, from the last checkpoint where there is one (S Section 5.2)."""

import torch
from safetensors.torch import save_model

from clusterlens import job
from clusterlens.devices import keep_freed_memory, pick
from clusterlens.files import digest, read_json, replacing, sha256
from clusterlens.models.kernel_source import KERNELS
from clusterlens.training.loop import train


def main(smk):
    torch.set_num_threads(smk.threads)
    device = pick(smk.params.device)
    if device.type == "cpu":
        keep_freed_memory()
    model = train(
        smk.wildcards.run,
        int(smk.wildcards.seed),
        smk.input.images,
        smk.output.metrics,
        architecture=smk.params.architecture,
        training=smk.params.training,
        checkpoint_root=smk.params.checkpoints,
        device=device,
        code=digest([sha256(file) for file in smk.input.code]),
    )
    with replacing(smk.output.weights) as file:
        save_model(model, str(file))
    return {
        "seeds": [int(smk.wildcards.seed)],
        "device": device,
        "fused_neurons": device.type == "cpu" and KERNELS.handle is not None,
        "images": read_json(smk.input.upstream).get("counts"),
    }


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
