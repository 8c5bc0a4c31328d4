"""Patterns ranked by how close their clusters are to those of global attention, ties as ties, and what follows."""

import pandas as pd

from clusterlens.metrics.numbers import over_seeds
from clusterlens.metrics.statistics import paired_difference

SAME = 0.01  # a difference in agreement that orders nothing, whatever its interval
CLEAR = 0.25  # silhouette of global attention below which there are no clusters to keep
CHEAP = 1.1  # times the least multiply-adds: costs that differ by less decide nothing
STRONG, FAIR, ROUGH = 0.9, 0.7, 0.4  # adjusted Rand index


def summary(measures: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and half-width of the 95 % interval over seeds of every measure, one row per pattern in the order given."""
    means, intervals = (frame.unstack() for frame in over_seeds(measures.groupby(["pattern", "measure"])["value"]))
    order = [name for name in names if name in means.index]
    return means.loc[order], intervals.loc[order]


def ranked(means: pd.DataFrame, baseline: str) -> list[str]:
    """All but the baseline, best first: by adjusted Rand index against it, then by silhouette (A App. B, step d)."""
    others = means.drop(index=baseline)
    return list(others.sort_values(["rand index", "silhouette"], ascending=False).index)


def places(measures: pd.DataFrame, order: list[str]) -> dict[str, str]:
    """`1`, `2–4`, ...: patterns share places with the best of them that seeds do not set apart from them."""
    found = measures[measures["measure"] == "rand index"]
    by_seed = {name: dict(zip(rows["seed"], rows["value"], strict=True)) for name, rows in found.groupby("pattern")}
    groups: list[list[str]] = []
    for name in order:
        if groups and tied(by_seed[groups[-1][0]], by_seed[name]):
            groups[-1].append(name)
        else:
            groups.append([name])
    named: dict[str, str] = {}
    first = 1
    for group in groups:
        last = first + len(group) - 1
        named |= dict.fromkeys(group, str(first) if last == first else f"{first}–{last}")
        first = last + 1
    return named


def tied(one: dict[int, float], other: dict[int, float]) -> bool:
    """Whether the interval of the paired difference holds 0; one seed has none and orders nothing."""
    found = paired_difference(one, other)
    return found.seeds < 2 or abs(found.value) <= max(found.interval, SAME)


def recommendation(
    order: list[str], place: dict[str, str], means: pd.DataFrame, intervals: pd.DataFrame, baseline: str, work: dict
) -> str:
    """What to train first: of the best the cheapest, of those that cost about the same the one that agrees most.

    `work` maps patterns to their share of the multiply-adds, None where it is not known.
    """
    clear = means.loc[baseline, "silhouette"]
    if not clear >= CLEAR:
        return (
            f"No recommendation: global attention itself forms no clear clusters here (silhouette {clear:.2f}), "
            "so there is little that a pattern could keep."
        )
    if not order:
        return "No recommendation: no pattern could be compared."
    best = [name for name in order if place[name] == place[order[0]]]
    agreement = {name: with_interval(means.loc[name, "rand index"], intervals.loc[name, "rand index"]) for name in best}
    if means.loc[best[0], "rand index"] < FAIR:
        return (
            f"No recommendation: no pattern keeps the clusters of global attention. {best[0]} comes closest, with an "
            f"agreement of {agreement[best[0]]}; 1 would be the same clusters."
        )
    known = [name for name in best if work[name] is not None]
    least = min((work[name] for name in known), default=0.0)
    chosen = next((name for name in known if work[name] <= CHEAP * least), best[0])
    others = [name for name in best if name != chosen]
    price = "" if work[chosen] is None else f" for {work[chosen]:.1%} of the multiply-adds"
    tie = f" The seeds do not tell it apart from: {'; '.join(others)}." if others else ""
    return f"Try {chosen} first: agreement with global attention {agreement[chosen]}{price}.{tie}"


def with_interval(mean: float, interval: float) -> str:
    return f"{mean:.2f}" + (f" ± {interval:.2f}" if interval >= 0.005 else "")


def agreement_words(rand: float) -> str:
    """An adjusted Rand index in words."""
    for threshold, words in ((STRONG, "forms nearly the same clusters as"), (FAIR, "forms mostly the clusters of")):
        if rand >= threshold:
            return words
    return "shares some clusters with" if rand >= ROUGH else "forms other clusters than"


def verdict(name: str, means: pd.DataFrame, intervals: pd.DataFrame, baseline: str, work: float | None) -> str:
    """One plain sentence: agreement, coherence, fragments, price, and what follows."""
    ours, base = means.loc[name], means.loc[baseline]
    noise = intervals.loc[[name, baseline]].fillna(0.0).pow(2).sum().pow(0.5)
    gap, allowed = ours["silhouette"] - base["silhouette"], max(0.02, noise["silhouette"])
    coherence = "equally coherent" if abs(gap) <= allowed else "more coherent" if gap > 0 else "less coherent"
    extra = ours["fragments"] - base["fragments"]
    count = round(abs(extra)) if abs(extra) > noise["fragments"] else 0
    pieces = f"{count} {'more' if extra > 0 else 'fewer'} piece{'s' * (count > 1)}" if count else "as many pieces"
    price = "" if work is None else f", for {work:.1%} of the multiply-adds"
    return (
        f"It {agreement_words(ours['rand index'])} global attention ({ours['share reassigned']:.0%} of the tokens are "
        f"in another cluster), {coherence} (silhouette {ours['silhouette']:.2f} against {base['silhouette']:.2f}) and "
        f"in {pieces}{price}: {advice(ours['rand index'], gap, allowed)}."
    )


def advice(rand: float, gap: float, noise: float) -> str:
    if rand >= STRONG and gap >= -noise:
        return "a strong candidate for training"
    if rand >= FAIR:
        return "worth a try"
    return "a rough approximation only" if rand >= ROUGH else "by this test not a substitute for global attention"
