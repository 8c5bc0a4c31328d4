"""Text to probe: paragraphs of more than so many tokens, drawn by a seed from documents or from the user's own file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clusterlens.data.text import read_documents
from clusterlens.errors import UserError


@dataclass(frozen=True)
class Paragraph:
    """A text and its tokens, special ones included, cut to the length that was asked for."""

    text: str
    ids: tuple[int, ...]


class Characters:
    """A symbol for every character, for checkpoints that come without a tokenizer; symbol 0 pads.

    Such a checkpoint sees text of natural repetitions, in an alphabet that it was not trained on.
    """

    pad_token_id = 0

    def __init__(self, vocabulary: int):
        self.vocabulary = vocabulary

    def __call__(self, text: str, *, truncation: bool = False, max_length: int | None = None) -> dict[str, list[int]]:
        shown = text[:max_length] if truncation else text
        return {"input_ids": [1 + ord(character) % (self.vocabulary - 1) for character in shown]}

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [chr(symbol - 1) for symbol in ids]


def own_documents(path: str) -> list[str]:
    """The user's text: a document per line of a .txt file, or per row of a .jsonl file with the field `text`."""
    try:
        documents = list(read_documents(Path(path)))
    except OSError as error:
        raise UserError(f"text '{path}' cannot be read ({type(error).__name__}): name a .txt or .jsonl file") from None
    if not documents:
        raise UserError(f"{path}: the file holds no text")
    return documents


def paragraphs(
    documents: Iterable[str],
    tokenizer,
    *,
    count: int = 1,
    min_tokens: int = 0,
    max_tokens: int = 512,
    seed: int | None = 0,
    joined: bool = False,
) -> list[Paragraph]:
    """`count` paragraphs of more than `min_tokens` tokens, cut to `max_tokens`, in an order that the seed draws.

    Without a seed the documents keep their order (T Fig. 2 takes the first of C4). One paragraph is T's literal mode,
    which draws it without a seed. `joined` puts neighbouring documents together until they are long enough: for files
    whose lines are shorter than paragraphs.
    """
    texts = [text.strip() for text in documents]
    texts = [text for text in texts if text]
    if not texts:
        raise UserError("there is no text to probe: every document is empty")
    if max_tokens <= min_tokens:
        raise UserError(f"no text has more than {min_tokens} tokens when cut to {max_tokens}: raise max_tokens")
    if joined:
        texts = list(join(texts, tokenizer, min_tokens))
    order = range(len(texts)) if seed is None else np.random.default_rng(seed).permutation(len(texts))
    found, longest = [], 0
    for index in order:
        ids = encode(tokenizer, texts[index], max_tokens)
        longest = max(longest, len(ids))
        if len(ids) > min_tokens:
            found.append(Paragraph(texts[index], tuple(ids)))
        if len(found) == count:
            return found
    if not found:
        raise UserError(
            f"no paragraph has more than {min_tokens} tokens (the longest of {len(texts)} has {longest}):"
            " give longer text or lower min_tokens"
        )
    raise UserError(
        f"{count} paragraphs asked for, but {len(found)} of {len(texts)} have more than {min_tokens} tokens:"
        f" ask for {len(found)}, or lower min_tokens"
    )


def whole(documents: Iterable[str], tokenizer, *, max_tokens: int) -> Paragraph:
    """All documents as one text, cut to `max_tokens`."""
    text = "\n".join(documents).strip()
    return Paragraph(text, tuple(encode(tokenizer, text, max_tokens)))


def encode(tokenizer, text: str, max_tokens: int) -> list[int]:
    return tokenizer(text, truncation=True, max_length=max_tokens)["input_ids"]


def join(texts: list[str], tokenizer, min_tokens: int) -> Iterator[str]:
    """Neighbours put together until they have more than `min_tokens` tokens; headings of WikiText are left out."""
    current: list[str] = []
    for text in texts:
        if text.startswith("= ") and text.endswith(" ="):
            continue
        current.append(text)
        if len(tokenizer(" ".join(current))["input_ids"]) > min_tokens:
            yield " ".join(current)
            current = []
    if current:
        yield " ".join(current)
