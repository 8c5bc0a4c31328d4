"""Every claim of the papers with a verdict from our results."""

import pandas as pd

from clusterlens.logs import log
from clusterlens.verify.checks import CHECKS, Missing, Outcome
from clusterlens.verify.published import arguments
from clusterlens.verify.results import Result

COLUMNS = ["id", "paper", "item", "claim", "verdict", "ours", "reason", "check", "seeds", "scale", "stand_in", "source"]
VERDICTS = ["reproduced", "not reproduced", "cannot hold", "needs paper scale", "not run"]


def judge_all(claims: list[dict], results: dict[tuple[str, str], Result], comparison: pd.DataFrame) -> pd.DataFrame:
    """The claims table; claims on items without a result count as `not run`."""
    rows = []
    for claim in claims:
        result = results.get((claim["paper"], claim["item"]))
        compared = comparison[(comparison["paper"] == claim["paper"]) & (comparison["item"] == claim["item"])]
        rows.append(judge(claim, result, compared))
    return pd.DataFrame(rows, columns=COLUMNS)


def judge(claim: dict, result: Result | None, compared: pd.DataFrame) -> dict:
    """One claim; `compared` is its item's part of the comparison table."""
    data = claim.get("data", [])
    line = {name: claim.get(name, "") for name in ("id", "paper", "item", "claim", "check", "source")}
    line |= {"reason": claim.get("cannot_hold", claim.get("reason", "")), "seeds": "", "scale": "", "stand_in": ""}
    if result is not None:
        line |= {"seeds": result.seeds, "scale": result.scale, "stand_in": result.labels_of(data)}
    outcome, note = look(claim, result, compared)
    fair = result is not None and result.fair(claim.get("needs", ""), data)
    if "cannot_hold" in claim:
        verdict = "cannot hold"
    elif result is not None and not fair:
        verdict = "needs paper scale"
        if outcome is not None and claim["check"] != "as_published":  # which says so itself
            note += "; here it held" if outcome.held else "; here it did not hold"
    elif outcome is None:
        verdict = "not run"
    else:
        verdict = "reproduced" if outcome.held else "not reproduced"
    return line | {"verdict": verdict, "ours": note}


def look(claim: dict, result: Result | None, compared: pd.DataFrame) -> tuple[Outcome | None, str]:
    """The outcome of the claim's check with what we found, or no outcome and why."""
    if result is None or "check" not in claim:
        return None, ""
    try:
        outcome = CHECKS[claim["check"]](with_verdicts(result.numbers, compared), **arguments(claim))
    except Missing as missing:
        if not result.declared(claim.get("data", [])):
            log.warning("claim %s cannot be judged: %s/%s has %s", claim["id"], claim["paper"], claim["item"], missing)
        return None, str(missing)
    return outcome, outcome.ours


def with_verdicts(numbers: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Our numbers with a column `verdict`, that of the comparison; published numbers we lack stand as empty rows."""
    verdicts = compared[["row", "column", "verdict"]]
    joined = numbers.merge(verdicts, how="outer", on=["row", "column"])
    joined["verdict"] = joined["verdict"].fillna("")
    return joined.replace({"value": {"": None, "nan": None}})
