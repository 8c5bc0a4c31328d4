"""The one kind of error a user is meant to read, and the hint that goes with a misspelt name."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Something the user can put right: one line that says what is wrong, what is allowed, what to do."""


def nearest(word: str, allowed: Iterable[str]) -> str:
    """A clause that names the allowed word closest to `word`, or lists all of them when none is close."""
    names = sorted(map(str, allowed))
    close = get_close_matches(str(word), names, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"allowed: {', '.join(names)}"


def choose(kind: str, name: str, registry: dict):
    """Look `name` up in a registry, or refuse it with the nearest name."""
    try:
        return registry[name]
    except KeyError:
        raise UserError(f"unknown {kind} '{name}': {nearest(name, registry)}") from None
