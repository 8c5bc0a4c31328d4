"""Rule pretrain_longformer: the masked language models of a job, each from its last checkpoint (A Section 4.1)."""

from pathlib import Path

from safetensors.torch import save_model

from clusterlens import job
from clusterlens.devices import for_training
from clusterlens.files import replacing
from clusterlens.models.arms import MODEL, LanguageRun
from clusterlens.training.loop import checkpoint_folder, train
from clusterlens.training.pretraining_task import PretrainingTask


def main(smk):
    device = for_training(smk.params.device, threads=smk.threads)
    runs = [LanguageRun(**run) for run in smk.params.runs]
    settings = {"model": {key: smk.params[key] for key in MODEL}, "phase": smk.params.phase, "device": device}
    spent = []
    for run in runs:
        task = PretrainingTask(run, smk.input.tokens, **settings)
        file = Path(smk.output.runs) / run.name
        place = {"checkpoint_root": f"{smk.params.checkpoints}/{run.name}", "code": smk.params.code}
        model = train(task, metrics=f"{file}.csv", **place)
        with replacing(f"{file}.safetensors") as weights:
            save_model(model, str(weights))
        spent.append(checkpoint_folder(task, **place))
    return {"seeds": [run.seed for run in runs], "device": device, "spent": spent}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
