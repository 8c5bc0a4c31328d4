"""Numbers as pages show them; the files keep every digit."""

import pandas as pd

from clusterlens.metrics.numbers import INTERVAL


def merge_intervals(table: pd.DataFrame) -> list[list[tuple[str, str]]]:
    """Rows of cells, header first, each a value and the half-width of its interval."""
    names = [name for name in table.columns if not name.endswith(INTERVAL)]

    def cell(line: dict, name: str) -> tuple[str, str]:
        return short(line[name]), short(line.get(name + INTERVAL, ""), digits=2)

    return [
        [(name, "") for name in names],
        *([cell(line, name) for name in names] for line in table.to_dict("records")),
    ]


def short(text: str, digits: int = 4) -> str:
    """A number with so many significant digits at most, any other text as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    whole = value.is_integer() or 10**digits <= abs(value)
    return f"{value:,.0f}" if whole and abs(value) < 1e15 else f"{value:.{digits}g}"
