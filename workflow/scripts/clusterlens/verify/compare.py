"""Every published number beside ours, with a verdict."""

import pandas as pd

from clusterlens.logs import log
from clusterlens.verify.numbers import as_number, rounds_to, same
from clusterlens.verify.results import Result

COLUMNS = ["paper", "item", "row", "column", "published", "ours", "spread", "difference", "tolerance", "verdict"]
COLUMNS += ["seeds", "scale", "stand_in", "unit", "source", "reason"]
KEY = ("paper", "item", "row", "column")
VERDICTS = ["match", "within tolerance", "differs", "needs paper scale", "not run"]


def compare_all(published: pd.DataFrame, results: dict[tuple[str, str], Result]) -> pd.DataFrame:
    """The comparison table; items without a result count as `not run`."""
    rows = []
    for (paper, item), numbers in published.groupby(["paper", "item"], sort=False):
        result = results.get((paper, item))
        ours = {} if result is None else {(row["row"], row["column"]): row for row in result.numbers.to_dict("records")}
        rows += [compare(row, ours.get((row["row"], row["column"])), result) for row in numbers.to_dict("records")]
    return pd.DataFrame(rows, columns=COLUMNS)


def compare(number: dict[str, str], ours: dict[str, str] | None, result: Result | None) -> dict:
    """One published number (a row of published/<paper>/<item>.csv) against our cell, if there is one."""
    line = {name: number[name] for name in ("paper", "item", "row", "column", "unit", "source", "reason")}
    exact = number["kind"] == "exact"
    line |= {"published": number["value"], "tolerance": "exact" if exact else f"{number['kind']} {number['tolerance']}"}
    data = number["data"].split()
    if result is None or ours is None or ours["value"] in {"", "nan"}:
        if result is not None and not result.declared(data):
            log.warning("%s/%s provides no row '%s', column '%s'", *(number[name] for name in KEY))
        return line | {"ours": "", "spread": "", "difference": "", "verdict": "not run"} | facts(result, ours, [])
    value, printed = as_number(ours["value"]), as_number(number["value"])
    difference = "" if value is None or printed is None else f"{value - printed:.4g}"
    line |= {"ours": ours["value"], "spread": ours["spread"], "difference": difference}
    verdict = judge(number, ours["value"]) if result.fair(number["needs"], data) else "needs paper scale"
    return line | {"verdict": verdict} | facts(result, ours, data)


def facts(result: Result | None, ours: dict[str, str] | None, data: list[str]) -> dict:
    """Seeds, scale and stand-ins behind a number of ours."""
    if result is None:
        return {"seeds": "", "scale": "", "stand_in": ""}
    seeds = (ours or {}).get("seeds") or str(result.seeds)
    return {"seeds": seeds, "scale": result.scale, "stand_in": result.labels_of(data)}


def judge(number: dict[str, str], ours: str) -> str:
    """`match` means equal at the printed precision."""
    if number["kind"] == "exact":
        return "match" if same(ours, number["value"]) else "differs"
    value, printed = as_number(ours), as_number(number["value"])
    if value is None or printed is None:
        return "differs"
    if rounds_to(value, number["value"]):
        return "match"
    allowed = float(number["tolerance"]) * (abs(printed) if number["kind"] == "rel" else 1.0)
    return "within tolerance" if abs(value - printed) <= allowed * (1 + 1e-9) else "differs"
