"""Rule train_stand_in: a tiny checkpoint of the class of a published one, trained on the prepared text."""

from pathlib import Path

import torch

from clusterlens import job
from clusterlens.data.registry import raw_folder
from clusterlens.data.retrieve import filling
from clusterlens.data.text import read_documents
from clusterlens.files import sha256
from clusterlens.models.stand_ins import kind_of, learn_tokenizer
from clusterlens.probing.architectures import quiet
from clusterlens.provenance import EMBEDDED, stand_in
from clusterlens.training.loop import checkpoint_folder, train
from clusterlens.training.stand_in_task import StandInTask


def main(smk):
    torch.set_num_threads(smk.threads)
    name, entry, settings = smk.wildcards.dataset, smk.params.entry, smk.params.settings
    texts = {split: list(read_documents(Path(smk.input[split]))) for split in ("train", "valid")}
    tokenizer = learn_tokenizer(kind_of(name), texts["train"], vocabulary=settings["vocabulary"])
    task = StandInTask(kind_of(name), tokenizer, **texts, settings=settings)
    place = {"checkpoint_root": smk.params.checkpoints, "code": smk.params.code}
    model = train(task, metrics=smk.output.metrics, **place)
    with quiet(), filling(raw_folder(smk.output.manifest)) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        files = {file.name: sha256(file) for file in sorted(folder.iterdir())}
    return {
        "dataset": name,
        "title": entry["title"],
        "licence": "of the text it was trained on",
        "source": "embedded",
        "revision": "none",
        "files": files,
        "stand_ins": [stand_in(name, entry["embedded"]["label"], EMBEDDED)],
        "seeds": [settings["seed"]],
        "spent": [checkpoint_folder(task, **place)],
    }


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
