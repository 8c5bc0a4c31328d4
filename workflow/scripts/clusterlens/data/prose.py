"""English reference prose that every CPython carries (`pydoc_data.topics`): the stand-in for C4 and WikiText-2."""

import re
from pydoc_data.topics import topics

MIN_CHARACTERS = 512
SPLITS = ("train",) * 5 + ("test", "valid") + ("train",) * 3


def passages(split: str | None = None) -> list[str]:
    """Running prose in passages of at least 512 characters, of one split (whole topics each) or of all.

    Topics quote one another; a paragraph stays where it comes first, so that the splits have none in common.
    """
    seen: set[str] = set()
    chosen = []
    for number, name in enumerate(sorted(topics)):
        new = [paragraph for paragraph in dict.fromkeys(paragraphs(topics[name])) if paragraph not in seen]
        seen.update(new)
        if split in (None, SPLITS[number % len(SPLITS)]):
            chosen += joined(new)
    return chosen


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a topic on one line each, without code, grammar, headings and underlines."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        line = " ".join(re.sub(r"(?<=\w)-\n\s*", "-", block).split())
        letters = sum(character.isalpha() or character.isspace() for character in line)
        if "::=" in line or ">>>" in line or len(line.split()) < 8 or letters < 0.8 * len(line):
            continue
        found.append(line)
    return found


def joined(pieces: list[str]) -> list[str]:
    """Neighbouring paragraphs joined until each passage is long enough; a short rest joins the last one."""
    passages, current = [], ""
    for piece in pieces:
        current = f"{current} {piece}".strip()
        if len(current) >= MIN_CHARACTERS:
            passages.append(current)
            current = ""
    if current and passages:
        passages[-1] += f" {current}"
    return passages
