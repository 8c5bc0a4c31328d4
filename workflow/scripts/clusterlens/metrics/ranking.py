"""Patterns ranked by how close their clusters are to those of global attention, with a sentence on each."""

import pandas as pd

from clusterlens.metrics.numbers import over_seeds


def summary(measures: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and standard deviation over seeds of every measure, one row per pattern in the order given."""
    means, intervals = (frame.unstack() for frame in over_seeds(measures.groupby(["pattern", "measure"])["value"]))
    order = [name for name in names if name in means.index]
    return means.loc[order], intervals.loc[order].fillna(0.0)


def ranked(means: pd.DataFrame, baseline: str) -> list[str]:
    """All but the baseline, best first: by adjusted Rand index against it, then by silhouette (A App. B, step d)."""
    others = means.drop(index=baseline)
    return list(others.sort_values(["rand index", "silhouette"], ascending=False).index)


def agreement_words(rand: float) -> str:
    """An adjusted Rand index in words."""
    for threshold, words in ((0.9, "forms nearly the same clusters as"), (0.7, "forms mostly the clusters of")):
        if rand >= threshold:
            return words
    return "shares part of its clusters with" if rand >= 0.4 else "forms other clusters than"


def verdict(name: str, means: pd.DataFrame, intervals: pd.DataFrame, baseline: str, work: float | None) -> str:
    """One plain sentence: agreement, coherence, fragments, price, and what follows."""
    ours, base = means.loc[name], means.loc[baseline]
    noise = max(0.02, (intervals.loc[name, "silhouette"] ** 2 + intervals.loc[baseline, "silhouette"] ** 2) ** 0.5)
    gap = ours["silhouette"] - base["silhouette"]
    coherence = "equally coherent" if abs(gap) <= noise else "more coherent" if gap > 0 else "less coherent"
    extra = ours["fragments"] - base["fragments"]
    count = round(abs(extra))
    pieces = f"{count} {'more' if extra > 0 else 'fewer'} piece{'s' * (count > 1)}" if count else "as many pieces"
    price = "" if work is None else f", for {work:.1%} of the multiply-adds"
    return (
        f"It {agreement_words(ours['rand index'])} global attention ({ours['share away']:.0%} of the tokens lie "
        f"elsewhere), "
        f"{coherence} (silhouette {ours['silhouette']:.2f} against {base['silhouette']:.2f}) and in {pieces}{price}: "
        f"{advice(ours['rand index'], gap, noise)}."
    )


def advice(rand: float, gap: float, noise: float) -> str:
    if rand >= 0.9 and gap >= -noise:
        return "a strong candidate for training"
    if rand >= 0.7:
        return "worth a try"
    return "a rough approximation only" if rand >= 0.4 else "by this test not a substitute for global attention"
