"""Rule pretrain_longformer: the masked language models of a job, each from its last checkpoint (A Section 4.1)."""

from pathlib import Path

from safetensors.torch import save_model

from clusterlens import job
from clusterlens.devices import for_training
from clusterlens.files import replacing
from clusterlens.models.arms import MODEL, LanguageRun
from clusterlens.training.loop import train
from clusterlens.training.pretraining_task import PretrainingTask


def main(smk):
    device = for_training(smk.params.device, threads=smk.threads)
    runs = [LanguageRun(**run) for run in smk.params.runs]
    settings = {"model": {key: smk.params[key] for key in MODEL}, "phase": smk.params.phase, "device": device}
    for run in runs:
        task = PretrainingTask(run, smk.input.tokens, **settings)
        place = Path(smk.output.runs) / run.name
        model = train(
            task,
            metrics=f"{place}.csv",
            checkpoint_root=f"{smk.params.checkpoints}/{run.name}",
            code=smk.params.code,
        )
        with replacing(f"{place}.safetensors") as file:
            save_model(model, str(file))
    return {"seeds": [run.seed for run in runs], "device": device}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
