"""Rule tokenize_text: the texts of a data set as tokens, long lines of WikiText-2 or labelled reviews (A App. C)."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from clusterlens import job
from clusterlens.data.formats import write_arrays
from clusterlens.data.text import long_lines, read_documents, read_labelled
from clusterlens.data.tokenizer import encode, properties


def main(smk):
    tokenizer = Tokenizer.from_file(smk.input.tokenizer)
    labelled = hasattr(smk.input, "test")
    arrays, texts_of = properties(tokenizer), {}
    for split in ("train", "test" if labelled else "valid"):
        file, name = Path(smk.input[split]), f"{smk.wildcards.dataset} {split}"
        if labelled:
            texts, labels = zip(*read_labelled(file), strict=True)
            arrays[f"{split}_labels"] = np.array(labels)
        else:
            texts = long_lines(read_documents(file), smk.params.min_characters, name)
        found = encode(tokenizer, texts, max_length=smk.params.max_length, name=name)
        arrays |= {f"{split}_{part}": array for part, array in found.items()}
        texts_of[split] = len(texts)
    write_arrays(smk.output.tokens, arrays)
    return {"texts": texts_of, "tokens": {split: len(arrays[f"{split}_tokens"]) for split in texts_of}}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
