"""An addition: how much of the silhouettes and accuracies that A prints is choice, on the two tables."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import CHOICES, DATA_NAMES, OUTCOMES
from clusterlens.figures.sensitivity import choice_panels
from clusterlens.metrics.numbers import number, numbers

NEAR = 0.01  # A prints two decimals


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    tables = {DATA_NAMES[name]: pd.read_csv(paths[0]) for name, paths in files.items() if name != "published"}
    printed = pd.read_csv(files["published"][0]).set_index(["row", "column"])["value"]
    points = pd.concat([table.assign(panel=data) for data, table in tables.items()], ignore_index=True)
    targets = {
        (data, outcome): float(printed[f"{data} global", outcome])
        for data in tables
        for outcome in OUTCOMES
        if (f"{data} global", outcome) in printed
    }
    effects = pd.concat([main_effects(table).assign(panel=data) for data, table in tables.items()], ignore_index=True)
    found = [one for data, table in tables.items() for one in choice_numbers(data, table, targets)]
    for line in effects.to_dict("records"):
        row = f"{line['panel']} {line['outcome']} by {line['choice']}"
        found += numbers(row, {key: line[key] for key in ("share of variance", "range of means")})
    return choice_panels(points, targets, effects), points, found


def main_effects(table: pd.DataFrame) -> pd.DataFrame:
    """What each choice does on average over all the others, for each outcome.

    Share of variance: Var(means of the levels) / Var(all settings). All combinations are there, so the shares add up;
    what is missing to 1 is interplay between choices.
    """
    rows = []
    for outcome in OUTCOMES:
        for choice in CHOICES:
            means = table.groupby(choice)[outcome].mean()
            share = means.var(ddof=0) / table[outcome].var(ddof=0) if table[outcome].nunique() > 1 else 0.0
            rows.append((outcome, choice, share, means.max() - means.min()))
    return pd.DataFrame(rows, columns=["outcome", "choice", "share of variance", "range of means"])


def choice_numbers(data: str, table: pd.DataFrame, targets: dict[tuple[str, str], float]) -> list[dict]:
    """The distribution over settings, and how many of them meet the printed numbers, each and together."""
    found, met = [], pd.Series(True, index=table.index)
    for outcome in OUTCOMES:
        row, values = f"{data} {outcome}", table[outcome]
        spread = {"lowest": values.min(), "median": values.median(), "highest": values.max(), "settings": len(values)}
        found += numbers(row, spread)
        if (data, outcome) in targets:
            near = (values - targets[data, outcome]).abs() <= NEAR
            below = values < targets[data, outcome]
            met &= near
            found.append(number(row, "share met", near.groupby(table["sample"]).mean()))
            found.append(number(row, "share below", below.groupby(table["sample"]).mean()))
    return [*found, number(f"{data} both", "share met", met.groupby(table["sample"]).mean())]
