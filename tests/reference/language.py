"""A small tokenised corpus and tiny settings for the language models' tests."""

from pathlib import Path

import numpy as np

from clusterlens.data.formats import write_arrays
from clusterlens.data.grammar import reviews
from clusterlens.data.tokenizer import encode, properties, train_tokenizer

MODEL = {
    "hidden_dimension": 8,
    "attention_heads": 2,
    "intermediate_size": 16,
    "layers": 2,
    "max_sequence_length": 64,
    "dropout": 0.2,
    "clip_norm": 1.0,
    "mixed_precision": False,
}
PRETRAINING = {
    "batch_size": 4,
    "learning_rate": 5e-3,
    "epochs": 3,
    "warmup_steps": 3,
    "weight_decay": 1e-2,
    "masking_ratio": 0.15,
    "train_lines": None,
    "evaluate_on": "valid",
    "validation_lines": None,
}
FINETUNING = {
    "batch_size": 4,
    "learning_rate": 5e-3,
    "epochs": 3,
    "warmup_steps": 2,
    "weight_decay": 0.0,
    "train_texts": None,
    "evaluate_on": "test",
    "test_texts": None,
}


def write_corpus(path: Path, *, train: int = 22, test: int = 10) -> Path:
    """Generated reviews with labels, as `train`, `valid` and `test`; the latter two are the same."""
    pairs = {"train": reviews(train, seed=0, held_out=False), "test": reviews(test, seed=0, held_out=True)}
    tokenizer = train_tokenizer((text for text, _ in pairs["train"]), 300)
    arrays = properties(tokenizer)
    for split, source in (("train", "train"), ("valid", "test"), ("test", "test")):
        texts, labels = zip(*pairs[source], strict=True)
        found = encode(tokenizer, texts, max_length=MODEL["max_sequence_length"], name=split)
        arrays |= {f"{split}_{name}": array for name, array in found.items()} | {f"{split}_labels": np.array(labels)}
    write_arrays(path, arrays)
    return path
