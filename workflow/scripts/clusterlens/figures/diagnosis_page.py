"""The diagnosis as a page: what was asked, a recommendation, the ranking with a sentence each, every number."""

from html import escape

import pandas as pd
import yaml

from clusterlens.figures.page import page, picture, table
from clusterlens.metrics.ranking import places, ranked, recommendation, verdict

MEASURES = {
    "rand index": "agreement",
    "share reassigned": "share reassigned",
    "silhouette": "silhouette",
    "clusters": "clusters",
    "fragments": "pieces",
    "effective rank": "effective rank",
    "dice": "dice",
    "accuracy": "accuracy (2 clusters)",
    "coverage": "coverage",
    "accuracy all clusters": "accuracy (all)",
}
GLOSSARY = {
    "agreement": "Adjusted Rand index between the pattern's clusters and those of global attention: 1 is the same, "
    "0 is what chance gives. Patterns are ranked by it; those that the seeds do not tell apart share a place.",
    "share reassigned": "Share of tokens in another cluster than under global attention, with clusters matched as "
    "well as possible.",
    "silhouette": "How tight and well separated the clusters are, at most 1.",
    "clusters": "K-means clusters; their number has the best silhouette among the candidates in the settings.",
    "pieces": "Fragmentation: clusters by density (DBSCAN) that together hold 90 % of the tokens.",
    "effective rank": "How many directions the cloud of tokens still fills.",
    "dice": "Overlap of the mask from the clusters with the true mask, at most 1.",
    "accuracy (2 clusters)": "Accuracy on the tokens of the two clusters that the features speak for most clearly.",
    "coverage": "Share of all tokens that these two clusters hold.",
    "accuracy (all)": "Accuracy when every cluster takes the label of its majority.",
    "±": "Half-width of the 95 % interval over seeds. A seed changes the start of K-means, what a pattern draws at "
    "random and, for tables, the order of the rows.",
}
COST = (
    "One application to all tokens: median time of several runs after a warm-up, memory beyond the input, and "
    "multiply-adds from the pattern's mask (not known for your own function). With few tokens the time is mostly "
    "overhead; the multiply-adds show how the cost grows."
)
ROUNDING = 1e-12  # an interval below is none


def cell(mean: float, interval: float, name: str) -> str:
    if pd.isna(mean):
        return "–"
    digits = 1 if name in ("clusters", "fragments") else 3
    return f"{mean:.{digits}f}" + (f" ± {interval:.{digits}f}" if interval > ROUNDING else "")


def size(count: float, units: tuple[str, ...], step: int) -> str:
    for unit in units[:-1]:
        if count < step:
            return f"{count:.3g} {unit}".strip()
        count /= step
    return f"{count:.3g} {units[-1]}"


def shares(cost: dict, base: dict) -> dict[str, float | None]:
    """Multiply-adds (where known) and time against those of global attention."""
    work = cost["multiply_adds"]
    return {
        "work": None if work is None else work / base["multiply_adds"],
        "time": cost["seconds"] / base["seconds"],
    }


def cost_row(name: str, cost: dict, base: dict) -> list[str]:
    work, share = cost["multiply_adds"], shares(cost, base)
    return [
        name,
        f"{1000 * cost['seconds']:.2f} ms",
        f"{share['time']:.2f}",
        size(cost["bytes"], ("B", "KiB", "MiB", "GiB"), 1024),
        "not known" if work is None else size(work, ("", "thousand", "million", "billion"), 1000),
        "–" if share["work"] is None else f"{share['work']:.1%}",
    ]


def ranking_list(rows: list[list[str]]) -> str:
    items = (
        f"<li><b>{escape(place)}. {escape(name)}</b> ({escape(about)}). {escape(sentence)}</li>"
        for place, name, about, sentence in rows
    )
    return f'<ul class="ranking">{"".join(items)}</ul>'


def broken_list(failed: list[dict]) -> str:
    items = "".join(f"<li><b>{escape(one['name'])}</b>: {escape(one['failure'])}</li>" for one in failed)
    return f'<div class="broken"><b>Could not be judged</b><ul>{items}</ul></div>' if failed else ""


def compose(
    outcome: dict, measures: pd.DataFrame, summary: tuple, figures: dict, settings: dict, stand_ins: list[str]
) -> str:
    """The whole page; `summary` is that of the measures, `figures` maps a heading to an explanation and a Figure."""
    means, intervals = summary
    baseline = outcome["patterns"][0]["name"]
    costs = {one["name"]: one["cost"] for one in outcome["patterns"] if not one["failure"]}
    about = {one["name"]: one["about"] for one in outcome["patterns"]}
    base = costs[baseline]
    work = {name: shares(cost, base)["work"] for name, cost in costs.items()}
    order = ranked(means, baseline)
    place = places(measures, order)
    parts = [
        "<h1>Which attention pattern keeps what global attention finds?</h1>",
        f'<p class="lead">{escape(outcome["data"])}. Attention without any learned weights was applied '
        f"{settings['iterations']} times to the standardised tokens, and the clusters that form were compared with "
        "those of global attention. A quick test before training, after Appendix B of “Attention Clusters”.</p>",
    ]
    if stand_ins:
        parts.append(f'<p class="stand-in"><b>Stand-in data:</b> {escape("; ".join(stand_ins))}.</p>')
    advice = recommendation(order, place, means, intervals, baseline, work)
    parts.append(f'<p class="advice">{escape(advice)}</p>')
    sections = [
        f'<h2>{escape(heading)}</h2>\n<p class="lead">{escape(words)}</p>\n{picture(figure, heading)}'
        for heading, (words, figure) in figures.items()
    ]
    parts += sections[:1]
    parts.append("<h2>The patterns in order</h2>")
    rows = [[place[name], name, about[name], verdict(name, means, intervals, baseline, work[name])] for name in order]
    parts.append(ranking_list(rows) if rows else "<p>No pattern could be compared.</p>")
    parts.append(broken_list([one for one in outcome["patterns"] if one["failure"]]))
    shown = {name: title for name, title in MEASURES.items() if name in means}
    rows = [
        [name, *(cell(means.loc[name, key], intervals.loc[name, key], key) for key in shown)]
        for name in [baseline, *order]
    ]
    parts += ["<h2>Every measure</h2>", table(["pattern", *shown.values()], rows, first_is_base=True)]
    seeds = ", ".join(map(str, settings["seeds"]))
    parts.append(f'<p class="lead">Mean ± 95 % interval over the seeds {seeds}; {outcome["tokens"]} tokens.</p>')
    known = {*shown.values(), "±"}
    terms = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in GLOSSARY.items() if k in known)
    parts.append(f"<dl>{terms}</dl>")
    header = ["pattern", "time", "times global", "memory", "multiply-adds", "of global"]
    parts += ["<h2>Cost of one application</h2>", f'<p class="lead">{COST}</p>']
    parts.append(table(header, [cost_row(name, costs[name], base) for name in [baseline, *order]], first_is_base=True))
    parts += sections[1:]
    text = yaml.safe_dump({"diagnose": settings}, sort_keys=False, default_flow_style=None, width=110)
    parts += ["<h2>Settings</h2>", f"<pre>{escape(text)}</pre>"]
    return page("Diagnosis of attention patterns", parts)
