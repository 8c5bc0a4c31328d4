"""Rule train_model: one of S's models with one seed, from the last checkpoint where there is one (S Section 5.2)."""

from safetensors.torch import save_model

from clusterlens import job
from clusterlens.devices import for_training
from clusterlens.files import read_json, replacing
from clusterlens.models.event_limits import KNOWN
from clusterlens.models.neurons import KERNELS
from clusterlens.training.image_task import ImageTask
from clusterlens.training.loop import checkpoint_folder, train


def main(smk):
    device = for_training(smk.params.device, threads=smk.threads)
    task = ImageTask(
        smk.wildcards.run,
        smk.input.images,
        seed=int(smk.wildcards.seed),
        architecture=smk.params.architecture,
        training=smk.params.training,
        device=device,
    )
    place = {"checkpoint_root": smk.params.checkpoints, "code": smk.params.code}
    model = train(task, metrics=smk.output.metrics, **place)
    with replacing(smk.output.weights) as file:
        save_model(model, str(file))
    return {
        "seeds": [task.seed],
        "device": device,
        "fused_neurons": device.type == "cpu" and KERNELS.handle is not None,
        "event_limits": dict(KNOWN),
        "images": read_json(smk.input.upstream).get("counts"),
        "spent": [checkpoint_folder(task, **place)],
    }


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
