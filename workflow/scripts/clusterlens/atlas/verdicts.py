"""How verdicts look and sort: one symbol and one colour each, readable without the colour."""

from clusterlens.figures.verdicts import COLOURS
from clusterlens.figures.verdicts import SYMBOLS as CLAIM_SYMBOLS
from clusterlens.verify.compare import VERDICTS

SYMBOLS = CLAIM_SYMBOLS | {"match": "=", "within tolerance": "≈", "differs": "≠"}
LOOKS_LIKE = {"match": "reproduced", "within tolerance": "held here", "differs": "not reproduced"}
ORDER = [*COLOURS, *(verdict for verdict in VERDICTS if verdict not in COLOURS)]


def colour(verdict: str) -> str:
    return COLOURS[LOOKS_LIKE.get(verdict, verdict)]


def ink(verdict: str) -> str:
    """Black or white, whichever is easier to read on the colour of the verdict."""
    channels = (int(colour(verdict)[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def rank(verdict: str) -> int:
    """Its place in the order of verdicts; a number that no paper prints has none and comes last."""
    return ORDER.index(verdict) if verdict else len(ORDER)


def slug(verdict: str) -> str:
    """The verdict as a class name."""
    return verdict.replace(" ", "-")
