"""Rule probe_heads: how alike the heads of every layer attend, and how much they attend to the first token."""

from itertools import islice
from pathlib import Path

import numpy as np
import torch

from clusterlens import devices, job
from clusterlens.data.formats import write_arrays, write_csv
from clusterlens.data.registry import raw_folder
from clusterlens.data.text import read_documents
from clusterlens.metrics.head_clusters import head_clusters, stability
from clusterlens.probing.capture import capture
from clusterlens.probing.layers import depth_of
from clusterlens.probing.load import load
from clusterlens.probing.statistics import AttentionByKey, AttentionToFirst, HeadCorrelations
from clusterlens.probing.text import paragraphs


def main(smk):
    torch.set_num_threads(smk.threads)
    devices.give_back_freed_memory()
    settings, device = smk.params.settings, devices.pick(smk.params.device)
    folder = str(raw_folder(smk.input.checkpoint))
    checkpoint = load(
        folder, tokenizer=smk.params.tokenizer, layers=depth_of(folder, settings["layers"]), device=device
    )
    documents = list(islice(read_documents(Path(smk.input.text)), settings["texts"]))
    longest = min(settings["max_tokens"], checkpoint.facts["longest"] or settings["max_tokens"])
    texts = paragraphs(documents, checkpoint.tokenizer, count=len(documents), max_tokens=longest, seed=None)
    depth = checkpoint.facts["layers"]
    shown = min(settings["layer"], depth - 1) + 1  # attention maps are counted from 0 in T, hidden states here
    alike, padded = HeadCorrelations(), HeadCorrelations(layers={shown}, padding=True)
    first, received = AttentionToFirst(), AttentionByKey(0)
    visitors = [alike.add, padded.add, first.add, received.add]
    capture(checkpoint.model, [list(text.ids) for text in texts], visitors, batch_size=settings["batch_size"])
    table = first.table()
    by_text = table.groupby(["text", "layer"], as_index=False)[["attention", "uniform"]].mean()
    by_text = by_text.merge(alike.off_diagonal(), on=["text", "layer"])
    by_head = table.groupby(["layer", "head"], as_index=False)[["attention", "uniform"]].mean()
    for found in (by_text, by_head):
        found["layer"] -= 1
    correlations = alike.per_text(shown)
    write_csv(smk.output.by_text, by_text)
    write_csv(smk.output.by_head, by_head)
    resampled = stability(correlations, settings["clusters"], resamples=settings["resamples"])
    write_arrays(
        smk.output.arrays,
        {
            "layer": np.array(shown - 1),
            "correlations": correlations.astype(np.float32),
            "padded": padded.mean(shown),
            "received": received.received[shown],
            "tokens": np.array([str(name) for name in checkpoint.tokenizer.convert_ids_to_tokens(texts[0].ids)]),
            "clusters": head_clusters(alike.mean(shown), settings["clusters"]),
            "stability": resampled,
            "group": np.array(settings["group"]),
        },
    )
    return {"seeds": [0], "device": device, "checkpoint": checkpoint.facts}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
