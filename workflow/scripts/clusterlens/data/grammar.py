"""Labelled sentences from a small seeded grammar: the stand-in for reviews.

They can be got wrong: negation turns a word's meaning round, longer texts contradict themselves, and some words of
praise and blame occur in the test split only.
"""

import random

PRAISE = (
    *("good", "great", "lovely", "clever", "warm", "funny", "moving", "sharp", "fresh", "bright"),
    *("gentle", "honest", "gripping", "tender"),
)
BLAME = (
    *("bad", "dull", "clumsy", "cold", "flat", "tired", "boring", "messy", "stale", "shallow"),
    *("noisy", "false", "lifeless", "hollow"),
)
HELD_OUT_PRAISE = ("superb", "radiant", "witty", "graceful", "splendid", "enchanting")
HELD_OUT_BLAME = ("dreadful", "tedious", "grim", "wooden", "sloppy", "insipid")
HELD_OUT = frozenset(HELD_OUT_PRAISE + HELD_OUT_BLAME)

NOUNS = ("film", "story", "plot", "cast", "script", "music", "ending", "dialogue", "camera work", "first half")
ADVERBS = ("really", "rather", "quite", "very", "simply", "often")
TEMPLATES = (
    "the {noun} is {adverb} {cue}",
    "a {cue} {noun} and a {other} {noun2}",
    "i found the {noun} {adverb} {cue}",
    "what a {cue} {noun} this is",
    "the {noun} stays {cue} and {other} to the end",
)
NEGATED = ("the {noun} is not {cue}", "the {noun} is never {cue}", "nobody could call the {noun} {cue}")
FILLERS = ("we saw it on a rainy evening", "it runs for about two hours", "my sister chose it", "there is a dog in it")

NEGATION_SHARE = 0.25
HELD_OUT_SHARE = 0.3
CONTRADICTION_SHARE = 0.25


def sentences(count: int, *, seed: int, held_out: bool) -> list[tuple[str, int]]:
    """`count` sentences, half of each label (1 is praise); `held_out` lets in the words that training never shows."""
    draw = random.Random(f"sentences {seed} {held_out}")
    return shuffled([(sentence(draw, label, held_out), label) for label in balanced(count)], draw)


def reviews(count: int, *, seed: int, held_out: bool) -> list[tuple[str, int]]:
    """`count` texts of four to eight sentences that partly contradict themselves; the last one gives the verdict."""
    draw = random.Random(f"reviews {seed} {held_out}")
    return shuffled([(review(draw, label, held_out), label) for label in balanced(count)], draw)


def balanced(count: int) -> list[int]:
    return [number % 2 for number in range(count)]


def shuffled(pairs: list, draw: random.Random) -> list:
    draw.shuffle(pairs)
    return pairs


def sentence(draw: random.Random, label: int, held_out: bool) -> str:
    negated = draw.random() < NEGATION_SHARE
    meaning = label ^ negated
    noun, noun2 = draw.sample(NOUNS, 2)
    words = {"noun": noun, "noun2": noun2, "adverb": draw.choice(ADVERBS)}
    words |= {"cue": cue(draw, meaning, held_out), "other": cue(draw, meaning, held_out)}
    return draw.choice(NEGATED if negated else TEMPLATES).format(**words)


def cue(draw: random.Random, meaning: int, held_out: bool) -> str:
    if held_out and draw.random() < HELD_OUT_SHARE:
        return draw.choice(HELD_OUT_PRAISE if meaning else HELD_OUT_BLAME)
    return draw.choice(PRAISE if meaning else BLAME)


def review(draw: random.Random, label: int, held_out: bool) -> str:
    parts = []
    for _ in range(draw.randint(3, 6)):
        parts.append(sentence(draw, label ^ (draw.random() < CONTRADICTION_SHARE), held_out))
    parts.insert(draw.randrange(len(parts)), draw.choice(FILLERS))
    parts.append("all in all , " + sentence(draw, label, held_out))
    return " . ".join(parts) + " ."
