"""The checks that claims name: from an item's numbers to whether the claim holds, with what we found.

Each takes the item's numbers, then keyword arguments from published/claims.yaml. A check goes by the 95 % interval over
seeds of the mean or the difference that it looks at: it holds where the interval lies within the limits, does not hold
where it lies outside, and is undecided where it includes a limit. A share of seeds goes by its value: "nine of ten" is
said of the seeds that there are. One seed has no interval: one number goes by its value then, and a difference orders
nothing unless a margin is stated. Exact numbers need no seeds.
"""

import inspect
import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

from clusterlens.errors import UserError, nearest
from clusterlens.metrics.statistics import Estimate, mean_interval
from clusterlens.verify.evidence import Missing, Number, Numbers, Outcome
from clusterlens.verify.labels import as_list
from clusterlens.verify.numbers import same, shown

# One number


def settled(low: float, high: float, lowest: float, highest: float) -> bool | None:
    """Whether all from low to high lies within the limits; None where only a part does."""
    return True if lowest <= low and high <= highest else False if high < lowest or highest < low else None


def every(
    numbers: Numbers,
    row: str | list[str],
    column: str,
    limit: str,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> Outcome:
    found = {name: numbers.number(name, column) for name in as_list(row)}
    held = together([settled(*one.range, lowest, highest) for one in found.values()])
    if len(found) == 1:
        (one,) = found.values()
        return Outcome(held, f"{one.value:.4g}", limit, one.low, one.high, one.seeds)
    text = ", ".join(f"{name} {with_interval(one)}" for name, one in found.items())
    return Outcome(held, text, limit, seeds=min(one.seeds for one in found.values()))


def together(found: list[bool | None]) -> bool | None:
    """All hold, one fails, or neither is known."""
    return False if False in found else None if None in found else True


def with_interval(one: Number) -> str:
    """A number among several, each of which has an interval of its own where there are seeds."""
    interval = "" if math.isnan(one.low) or one.seeds < 2 else f" ({one.low:.4g} to {one.high:.4g})"
    return f"{one.value:.4g}{interval}"


def equals(numbers: Numbers, *, row: str, column: str, value: float) -> Outcome:
    """Exactly this number."""
    ours = numbers.number(row, column)
    return Outcome(same(ours.value, value), f"{ours.value:.4g}", f"= {value:g}", ours.low, ours.high, ours.seeds)


def text_equals(numbers: Numbers, *, row: str, column: str, value: str) -> Outcome:
    """Exactly this text."""
    ours = numbers.text(row, column)
    return Outcome(same(ours, value), shown(ours), f"= {value}")


def within(numbers: Numbers, *, row: str | list[str], column: str, value: float, tolerance: float) -> Outcome:
    """This number, give or take the tolerance."""
    return every(numbers, row, column, f"{value:g} ± {tolerance:g}", value - tolerance, value + tolerance)


def at_least(numbers: Numbers, *, row: str | list[str], column: str, value: float) -> Outcome:
    return every(numbers, row, column, f"≥ {value:g}", lowest=value)


def at_most(numbers: Numbers, *, row: str | list[str], column: str, value: float) -> Outcome:
    return every(numbers, row, column, f"≤ {value:g}", highest=value)


def between(numbers: Numbers, *, row: str | list[str], column: str, low: float, high: float) -> Outcome:
    return every(numbers, row, column, f"{low:g} to {high:g}", low, high)


# Differences


def beyond(difference: Estimate, margin: float) -> bool | None:
    """Whether a difference exceeds the margin; None where its interval includes the margin, or there is no interval."""
    if math.isnan(difference.interval):
        return difference.value > margin if margin > 0 else None
    return True if difference.low > margin else False if difference.high <= margin else None


def close_to(difference: Estimate, value: float, tolerance: float) -> bool | None:
    """Whether a difference is this number, give or take the tolerance; one seed goes by its value."""
    half = 0.0 if math.isnan(difference.interval) else difference.interval
    return settled(difference.value - half, difference.value + half, value - tolerance, value + tolerance)


def ordered(numbers: Numbers, *, rows: list[str], column: str, margin: float = 0.0) -> Outcome:
    """Each row larger than the next by more than the margin, beyond what the seeds leave open."""
    differences = [numbers.difference(high, low, column) for high, low in itertools.pairwise(rows)]
    held = together([beyond(difference, margin) for difference in differences])
    text = ", ".join(f"{row} {numbers.number(row, column).value:.4g}" for row in rows)
    smallest = min(differences, key=lambda difference: difference.value)
    limit = f"each above the next by more than {margin:g}"
    return Outcome(held, text, limit, smallest.low, smallest.high, smallest.seeds)


def difference_at_least(numbers: Numbers, *, row: str, minus: str, column: str, value: float = 0.0) -> Outcome:
    """One row exceeds another by more than this, beyond what the seeds leave open."""
    found = numbers.difference(row, minus, column)
    return Outcome(beyond(found, value), f"{found.value:.4g}", f"> {value:g}", found.low, found.high, found.seeds)


def difference_within(
    numbers: Numbers, *, row: str, minus: str, column: str, value: float, tolerance: float
) -> Outcome:
    """One row minus another is this number, give or take the tolerance."""
    found = numbers.difference(row, minus, column)
    held = close_to(found, value, tolerance)
    return Outcome(held, f"{found.value:.4g}", f"{value:g} ± {tolerance:g}", found.low, found.high, found.seeds)


def positive(numbers: Numbers, *, row: str | list[str], column: str, margin: float = 0.0) -> Outcome:
    """A signed change that exceeds the margin, beyond what the seeds leave open."""
    found = {name: numbers.number(name, column) for name in as_list(row)}
    estimates = [one.estimate for one in found.values()]
    text = ", ".join(f"{name} {one.value:+.3g}" for name, one in found.items())
    smallest = min(estimates, key=lambda estimate: estimate.value)
    held = together([beyond(estimate, margin) for estimate in estimates])
    return Outcome(held, text, f"> {margin:g}", smallest.low, smallest.high, smallest.seeds)


def differs(numbers: Numbers, *, row: str | list[str], column: str, margin: float) -> Outcome:
    """A signed change whose size, in either direction, exceeds the margin beyond what the seeds leave open."""
    found = {name: numbers.number(name, column) for name in as_list(row)}
    sizes = [Estimate(abs(one.value), one.estimate.interval, one.seeds) for one in found.values()]
    smallest = min(sizes, key=lambda estimate: estimate.value)
    text = ", ".join(f"{name} {one.value:+.3g}" for name, one in found.items())
    held = together([beyond(size, margin) for size in sizes])
    return Outcome(held, text, f"|change| > {margin:g}", smallest.low, smallest.high, smallest.seeds)


# Exact ratios, and rows that agree


def reduction_within(
    numbers: Numbers, *, row: str | list[str], base: str | list[str], column: str, value: float, tolerance: float
) -> Outcome:
    """By this many per cent smaller than the base, give or take the tolerance; several rows against as many bases."""
    pairs = list(zip(as_list(row), as_list(base), strict=True))
    ours = {
        name: 100 * (1 - numbers.number(name, column).value / numbers.number(whole, column).value)
        for name, whole in pairs
    }
    held = all(abs(found - value) <= tolerance for found in ours.values())
    text = ", ".join(f"{name} {found:.4g} %" for name, found in ours.items())
    return Outcome(held, text, f"{value:g} ± {tolerance:g} %", seeds=1)


def ratio_at_least(numbers: Numbers, *, row: str, base: str, column: str, value: float) -> Outcome:
    """One row at least so many times another: by value, or by the interval of the logarithm where there are seeds."""
    one, other = numbers.number(row, column), numbers.number(base, column)
    if min(one.value, other.value) <= 0:
        raise Missing(f"a value that is not positive in row '{row}' or '{base}', column '{column}'")
    shared = one.by_seed.keys() & other.by_seed.keys()
    if len(shared) < 2:
        return Outcome(one.value / other.value >= value, f"{one.value / other.value:.4g}", f"≥ {value:g}", seeds=1)
    logs = mean_interval(np.log([one.by_seed[seed] / other.by_seed[seed] for seed in sorted(shared)]))
    low, high = math.exp(logs.low), math.exp(logs.high)
    held = True if low >= value else False if high < value else None
    return Outcome(held, f"{math.exp(logs.value):.4g}", f"≥ {value:g}", low, high, logs.seeds)


def all_close(numbers: Numbers, *, rows: list[str], column: str, tolerance: float) -> Outcome:
    """No two of the rows further apart than the tolerance, beyond what the seeds leave open."""
    apart = [numbers.difference(one, other, column) for one, other in itertools.combinations(rows, 2)]
    held = together([close_to(difference, 0.0, tolerance) for difference in apart])
    sizes = [Estimate(abs(difference.value), difference.interval, difference.seeds) for difference in apart]
    widest = max(sizes, key=lambda size: size.value)
    return Outcome(held, f"{widest.value:.4g} apart", f"≤ {tolerance:g}", widest.low, widest.high, widest.seeds)


# Trends along `<prefix><number>`


def trend(numbers: Numbers, rows: list[str], column: str) -> Estimate:
    """Spearman's rank correlation of a quantity with the order of the rows, seed by seed; 0 for a constant."""
    found = [numbers.number(row, column) for row in rows]
    shared = set.intersection(*(set(one.by_seed) for one in found))
    paths = [[one.by_seed[seed] for one in found] for seed in sorted(shared)] or [[one.value for one in found]]
    ranks = [0.0 if len(set(path)) == 1 else float(spearmanr(range(len(path)), path).statistic) for path in paths]
    return mean_interval(np.array(ranks))


def along(numbers: Numbers, prefix: str, column: str, sign: int, margin: float) -> Outcome:
    rows = numbers.series(prefix, column)
    first, last = rows[0], rows[-1]
    change = numbers.difference(last, first, column)
    signed = Estimate(sign * change.value, change.interval, change.seeds)
    rank = trend(numbers, rows, column)
    steady = sign * rank.value >= 0.5
    held = beyond(signed, margin)
    start, end = (numbers.number(row, column).value for row in (first, last))
    text = f"{first} {start:.4g} to {last} {end:.4g}, rank correlation {rank.value:+.2f}"
    limit = f"change {'>' if sign > 0 else '<'} {sign * margin:g}, rank correlation beyond {sign * 0.5:+g}"
    return Outcome(held and steady if held else held, text, limit, change.low, change.high, change.seeds)


def increases_with(numbers: Numbers, *, prefix: str, column: str, margin: float = 0.0) -> Outcome:
    """Grows along the rows: last above first beyond margin and seeds, with a rank correlation of at least .5."""
    return along(numbers, prefix, column, 1, margin)


def decreases_with(numbers: Numbers, *, prefix: str, column: str, margin: float = 0.0) -> Outcome:
    """Falls along the rows, as `increases_with`."""
    return along(numbers, prefix, column, -1, margin)


def does_not_increase(numbers: Numbers, *, prefix: str, column: str, margin: float) -> Outcome:
    """Stays or falls along the rows: the last is above the first by no more than the margin."""
    rows = numbers.series(prefix, column)
    change = numbers.difference(rows[-1], rows[0], column)
    more = beyond(change, margin)
    text = f"{rows[0]} to {rows[-1]}: {change.value:+.4g}"
    return Outcome(
        None if more is None else not more, text, f"change ≤ {margin:g}", change.low, change.high, change.seeds
    )


# The whole item


def as_published(numbers: Numbers, *, columns: list[str] | None = None) -> Outcome:
    """Every published number of the item is met within its tolerance; undecided where some cannot be compared."""
    judged = numbers.table[numbers.table["verdict"] != ""]
    if columns is not None:
        judged = judged[judged["column"].isin(columns)]
    if judged.empty or (judged["verdict"] == "not run").any():
        raise Missing("no counterpart of some published numbers")
    good = judged["verdict"].isin(["match", "within tolerance"])
    waiting = int((judged["verdict"] == "not comparable here").sum())
    note = f", {waiting} not comparable here" if waiting else ""
    held = False if (judged["verdict"] == "differs").any() else None if waiting else True
    return Outcome(
        held, f"{int(good.sum())} of {len(judged)} numbers met{note}", "all met", comparable=held is not None
    )


CHECKS: dict[str, Callable[..., Outcome]] = {
    check.__name__: check
    for check in (
        equals,
        text_equals,
        within,
        at_least,
        at_most,
        between,
        ordered,
        difference_at_least,
        difference_within,
        positive,
        differs,
        reduction_within,
        ratio_at_least,
        all_close,
        increases_with,
        decreases_with,
        does_not_increase,
        as_published,
    )
}


def check_arguments(claim: str, name: str, args: dict) -> None:
    """Refuse an unknown check, or arguments that it does not take, in one line."""
    if name not in CHECKS:
        raise UserError(f"claim {claim}: unknown check '{name}': {nearest(name, CHECKS)}")
    parameters = dict(itertools.islice(inspect.signature(CHECKS[name]).parameters.items(), 1, None))
    for given in args:
        if given not in parameters:
            raise UserError(f"claim {claim}: check '{name}' has no argument '{given}': {nearest(given, parameters)}")
    for needed, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and needed not in args:
            raise UserError(f"claim {claim}: check '{name}' needs the argument '{needed}'")
