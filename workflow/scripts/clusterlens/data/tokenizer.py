"""Tokenizers: RoBERTa's byte-level BPE, or one of that kind learnt from a text."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from clusterlens.errors import UserError
from clusterlens.files import replacing
from clusterlens.logs import log

START, PAD, END, UNKNOWN, MASK = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # RoBERTa's


def read_published(vocabulary: Path, merges: Path) -> Tokenizer:
    """RoBERTa's tokenizer from its two published files."""
    try:
        bpe = models.BPE.from_file(str(vocabulary), str(merges), unk_token=UNKNOWN)
    except Exception as error:  # the library raises nothing more specific
        raise UserError(f"{vocabulary}: not a BPE vocabulary with merges ({error}); retrieve it again") from None
    tokenizer = Tokenizer(bpe)
    missing = [token for token in SPECIAL if tokenizer.token_to_id(token) is None]
    if missing:
        raise UserError(f"{vocabulary}: no token {missing[0]}; a vocabulary of RoBERTa's kind is needed")
    return completed(tokenizer)


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """A byte-level BPE of at most `vocabulary` tokens, learnt from `texts`."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return completed(tokenizer)


def completed(tokenizer: Tokenizer) -> Tokenizer:
    """With RoBERTa's treatment of spaces, and a start and an end around every text."""
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end, start = ((token, number_of(tokenizer, token)) for token in (END, START))
    tokenizer.post_processor = processors.RobertaProcessing(end, start, add_prefix_space=False)
    return tokenizer


def number_of(tokenizer: Tokenizer, token: str) -> int:
    number = tokenizer.token_to_id(token)
    assert number is not None, token  # `completed` has added all special tokens
    return number


def write_tokenizer(path: str | Path, tokenizer: Tokenizer) -> None:
    with replacing(path) as file:
        tokenizer.save(str(file))


def encode(tokenizer: Tokenizer, texts: Sequence[str], *, max_length: int, name: str) -> dict[str, np.ndarray]:
    """All texts in one array with the place where each ends; one longer than `max_length` is cut there."""
    empty = next((number for number, text in enumerate(texts, 1) if not text.strip()), None)
    if empty is not None:
        raise UserError(f"{name}, row {empty}: the text is empty; give it words or take the row out")
    end = number_of(tokenizer, END)
    found = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    long = sum(len(ids) > max_length for ids in found)
    if long:
        log.warning("%s: %d of %d texts have more than %d tokens and are cut", name, long, len(found), max_length)
    kept = [ids if len(ids) <= max_length else [*ids[: max_length - 1], end] for ids in found]
    return {
        "tokens": np.fromiter((token for ids in kept for token in ids), dtype=np.int32),
        "ends": np.cumsum([len(ids) for ids in kept]),
    }


def properties(tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """What training must know of the tokenizer."""
    return {
        "vocabulary": np.array(tokenizer.get_vocab_size()),
        "pad": np.array(number_of(tokenizer, PAD)),
        "mask": np.array(number_of(tokenizer, MASK)),
        "special": np.array([number_of(tokenizer, token) for token in (START, PAD, END)]),
    }
