"""Rule probe_similarity: cosines between the tokens of a text, layer by layer, as T counted them and corrected."""

from pathlib import Path

import pandas as pd
import torch

from clusterlens import devices, job
from clusterlens.data.formats import write_csv
from clusterlens.data.registry import raw_folder
from clusterlens.data.text import read_documents
from clusterlens.probing.capture import capture
from clusterlens.probing.layers import depth_of, shown_layers
from clusterlens.probing.load import load
from clusterlens.probing.statistics import TokenSimilarity
from clusterlens.probing.text import paragraphs


def main(smk):
    torch.set_num_threads(smk.threads)
    devices.give_back_freed_memory()
    settings, device = smk.params.settings, devices.pick(smk.params.device)
    folder = str(raw_folder(smk.input.checkpoint))
    depth = depth_of(folder, settings["layers"])
    documents = list(read_documents(Path(smk.input.text)))
    tables, histograms, seen = [], [], {}
    # Deviation: T looks at one paragraph, with all heads merged into one and each token's cosine with itself among the
    # pairs; `corrected` has the trained heads, many paragraphs and pairs of different tokens only.
    for mode, heads in (("literal", 1), ("corrected", None)):
        checkpoint = load(folder, tokenizer=smk.params.tokenizer, layers=depth, heads=heads, device=device)
        longest = min(settings["max_tokens"], checkpoint.facts["longest"] or settings["max_tokens"])
        texts = paragraphs(
            documents,
            checkpoint.tokenizer,
            count=1 if mode == "literal" else settings["paragraphs"],
            min_tokens=settings["min_tokens"],
            max_tokens=longest,
            seed=settings["seed"],
        )
        shown = shown_layers(settings["shown_layers"], checkpoint.facts["layers"])
        similarity = TokenSimilarity(diagonal=mode == "literal")
        ids = [list(text.ids) for text in texts]
        capture(checkpoint.model, ids, [similarity.add], batch_size=settings["batch_size"], maps=False)
        tables.append(similarity.table().assign(mode=mode))
        histograms += [similarity.bins(layer).assign(mode=mode, layer=layer) for layer in shown]
        seen[mode] = checkpoint.facts
    write_csv(smk.output.table, pd.concat(tables))
    write_csv(smk.output.histograms, pd.concat(histograms))
    return {"seeds": [settings["seed"]], "device": device, "checkpoint": seen["corrected"]}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
