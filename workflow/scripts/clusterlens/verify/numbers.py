"""Printed numbers as numbers: `21.34M`, `10,000`, `15%` and `9e-4` read as a person would read them."""

import math
import re

PRINTED = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([KMB%]?)")
FACTORS = {"": 1.0, "%": 1.0, "K": 1e3, "M": 1e6, "B": 1e9}


def as_number(text: object) -> float | None:
    """The value of a printed number (`15%` is 15), or None for any other text."""
    plain = str(text).strip().replace("−", "-").replace(",", "")
    if plain in {"inf", "-inf"}:
        return float(plain)
    found = PRINTED.fullmatch(plain)
    return float(found[1]) * FACTORS[found[2]] if found else None


def as_text(value: object) -> str:
    """A cell as text for exact comparison; every way to leave a cell empty is a dash."""
    text = "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value).strip()
    return "—" if text in {"", "-", "–", "—", "nan"} else text


def same(one: object, other: object) -> bool:
    """Equal as numbers where both are numbers, else as text."""
    a, b = as_number(one), as_number(other)
    if a is None or b is None:
        return as_text(one) == as_text(other)
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=0.0)


def rounds_to(ours: float, printed: str) -> bool:
    """Whether ours, rounded to as many decimals as the printed number shows, is that number."""
    decimals = len(printed.partition(".")[2]) if "e" not in printed.lower() else 12
    return abs(ours - float(printed.replace("−", "-"))) <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def shown(value: object) -> str:
    """A number with four significant digits at most, a text as it is."""
    number = as_number(value)
    return as_text(value) if number is None or isinstance(value, str) else f"{number:.4g}"
