"""Every claim of the papers with a verdict from our results."""

import math
from dataclasses import replace

import pandas as pd

from clusterlens.logs import log
from clusterlens.provenance import LAPTOP, PAPER
from clusterlens.verify.checks import CHECKS
from clusterlens.verify.evidence import Missing, Numbers, Outcome, Undefined
from clusterlens.verify.published import arguments
from clusterlens.verify.results import Result

COLUMNS = ["id", "paper", "item", "claim", "whose", "verdict", "published", "ours", "low", "high", "threshold", "seeds"]
COLUMNS += ["scale", "data", "kind", "waits for", "reason", "check", "source"]
# In the order of what they say about the claim.
VERDICTS = ["reproduced", "not reproduced", "undecided", "cannot hold", "contradicts itself"]
VERDICTS += ["held at laptop scale", "did not hold at laptop scale", "undecided at laptop scale"]
VERDICTS += ["held here", "did not hold here", "not comparable here", "not run"]
# Checks whose value is a number of the paper; the value of any other check is a threshold of ours.
PRINTED = {"equals", "text_equals", "within", "difference_within", "reduction_within"}
LAPTOP_WORDS = {True: "held", False: "did not hold", None: "undecided"}
RULED_OUT = {"cannot_hold": "cannot hold", "contradicts": "contradicts itself"}


def judge_all(
    claims: list[dict], results: dict[tuple[str, str], Result], comparison: pd.DataFrame, run: str = PAPER
) -> pd.DataFrame:
    """The claims table; claims on items without a result count as `not run`. `run` is the label of the run's config."""
    rows = []
    for claim in claims:
        result = results.get((claim["paper"], claim["item"]))
        compared = comparison[(comparison["paper"] == claim["paper"]) & (comparison["item"] == claim["item"])]
        rows.append(judge(claim, result, compared, run))
    return pd.DataFrame([dict.fromkeys(COLUMNS, "") | row for row in rows], columns=COLUMNS)


def judge(claim: dict, result: Result | None, compared: pd.DataFrame, run: str = PAPER) -> dict:
    """One claim; `compared` is its item's part of the comparison table."""
    line = {name: claim.get(name, "") for name in ("id", "paper", "item", "claim", "check", "source")}
    ruled_out = next((key for key in RULED_OUT if key in claim), None)
    printed = claim.get("args", {}).get("value", "") if claim.get("check") in PRINTED else ""
    line |= {"whose": claim.get("whose", "paper"), "published": str(printed)}
    line["reason"] = claim.get(ruled_out or "reason", "")
    outcome, missing = look(claim, result, compared)
    data, waits, laptop = claim.get("data", []), "", False
    if result is not None:
        waits = result.waits_for(claim.get("needs", ""), data)
        laptop = bool(waits) and result.at_laptop_scale(data, run)
        line |= {"seeds": result.seeds, "scale": LAPTOP if laptop else result.scale}
        line |= {"data": result.data_of(data), "kind": result.kind_of(data)}
    if outcome is not None and "scale" in waits and "bound_to_scale" in claim:
        outcome, line["reason"] = replace(outcome, comparable=False), claim["bound_to_scale"]
    if outcome is not None:
        line |= {"ours": outcome.value, "threshold": outcome.threshold, "seeds": outcome.seeds or line["seeds"]}
        line |= {end: "" if math.isnan(value) else f"{value:.4g}" for end, value in bounds(outcome).items()}
    else:
        line["ours"] = missing
    return line | {"verdict": verdict(ruled_out, result, outcome, waits, laptop), "waits for": waits}


def bounds(outcome: Outcome) -> dict[str, float]:
    return {"low": outcome.low, "high": outcome.high}


def verdict(ruled_out: str | None, result: Result | None, outcome: Outcome | None, waits: str, laptop: bool) -> str:
    """`waits` names what a fair judgement still needs: the paper's data, its scale, or both; `laptop`, whether it was
    made at laptop scale on real data."""
    if ruled_out:
        return RULED_OUT[ruled_out]
    if result is None:
        return "not run"
    if waits:
        if outcome is None or not outcome.comparable:
            return "not comparable here"
        if laptop:
            return f"{LAPTOP_WORDS[outcome.held]} at laptop scale"
        if outcome.held is None:
            return "not comparable here"
        return "held here" if outcome.held else "did not hold here"
    if outcome is None:
        return "not run"
    return {True: "reproduced", False: "not reproduced", None: "undecided"}[outcome.held]


def look(claim: dict, result: Result | None, compared: pd.DataFrame) -> tuple[Outcome | None, str]:
    """The outcome of the claim's check, or none and why."""
    if result is None or "check" not in claim:
        return None, ""
    try:
        return CHECKS[claim["check"]](Numbers(with_verdicts(result.numbers, compared)), **arguments(claim)), ""
    except Missing as missing:
        if not (isinstance(missing, Undefined) or result.declared(claim.get("data", []))):
            log.warning("claim %s cannot be judged: %s/%s has %s", claim["id"], claim["paper"], claim["item"], missing)
        return None, str(missing)


def with_verdicts(numbers: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Our numbers with a column `verdict`, that of the comparison; published numbers we lack stand as empty rows."""
    verdicts = compared[["row", "column", "verdict"]]
    joined = numbers.merge(verdicts, how="outer", on=["row", "column"])
    joined[["verdict", "low", "high", "by_seed"]] = joined[["verdict", "low", "high", "by_seed"]].fillna("")
    return joined.replace({"value": {"": None, "nan": None}})
