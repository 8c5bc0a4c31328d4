"""Rule finetune_longformer: a job's models on IMDB and SST-2, each from its last checkpoint (A Section 4.1)."""

from pathlib import Path

from clusterlens import job
from clusterlens.devices import for_training
from clusterlens.models.arms import MODEL, TASKS, LanguageRun
from clusterlens.training.finetuning_task import FinetuningTask
from clusterlens.training.loop import train


def main(smk):
    device = for_training(smk.params.device, threads=smk.threads)
    runs = [LanguageRun(**run) for run in smk.params.runs]
    settings = {"model": {key: smk.params[key] for key in MODEL}, "phase": smk.params.phase, "device": device}
    for run in runs:
        weights = Path(smk.input.pretrained) / f"{run.name}.safetensors"
        for task in TASKS:
            name = f"{run.name}_{task}"
            train(
                FinetuningTask(run, task, smk.input[task], weights=weights, **settings),
                metrics=Path(smk.output.runs) / f"{name}.csv",
                checkpoint_root=f"{smk.params.checkpoints}/{name}",
                code=smk.params.code,
            )
    return {"seeds": [run.seed for run in runs], "device": device}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
