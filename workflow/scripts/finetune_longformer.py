"""Rule finetune_longformer: a job's models on IMDB and SST-2, each from its last checkpoint (A Section 4.1)."""

from pathlib import Path

from clusterlens import job
from clusterlens.devices import for_training
from clusterlens.models.arms import MODEL, TASKS, LanguageRun
from clusterlens.training.finetuning_task import FinetuningTask
from clusterlens.training.loop import checkpoint_folder, train


def main(smk):
    device = for_training(smk.params.device, threads=smk.threads)
    runs = [LanguageRun(**run) for run in smk.params.runs]
    settings = {"model": {key: smk.params[key] for key in MODEL}, "phase": smk.params.phase, "device": device}
    spent = []
    for run in runs:
        weights = Path(smk.input.pretrained) / f"{run.name}.safetensors"
        for data in TASKS:
            name = f"{run.name}_{data}"
            task = FinetuningTask(run, data, smk.input[data], weights=weights, **settings)
            place = {"checkpoint_root": f"{smk.params.checkpoints}/{name}", "code": smk.params.code}
            train(task, metrics=Path(smk.output.runs) / f"{name}.csv", **place)
            spent.append(checkpoint_folder(task, **place))
    return {"seeds": [run.seed for run in runs], "device": device, "spent": spent}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
