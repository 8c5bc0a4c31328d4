"""Every published number beside ours, with a verdict."""

import pandas as pd

from clusterlens.logs import log
from clusterlens.verify.numbers import as_number, rounds_to, same
from clusterlens.verify.results import Result

COLUMNS = ["paper", "item", "row", "column", "what", "published", "ours", "low", "high", "difference", "tolerance"]
COLUMNS += ["verdict", "waits for", "seeds", "scale", "data", "kind", "unit", "source", "reason"]
KEY = ("paper", "item", "row", "column")
VERDICTS = ["match", "within tolerance", "differs", "not comparable here", "not run"]
MET = ("match", "within tolerance")


def compare_all(published: pd.DataFrame, results: dict[tuple[str, str], Result]) -> pd.DataFrame:
    """The comparison table; items without a result count as `not run`."""
    rows = []
    for (paper, item), numbers in published.groupby(["paper", "item"], sort=False):
        result = results.get((paper, item))
        ours = {} if result is None else {(row["row"], row["column"]): row for row in result.numbers.to_dict("records")}
        rows += [compare(row, ours.get((row["row"], row["column"])), result) for row in numbers.to_dict("records")]
    return pd.DataFrame([dict.fromkeys(COLUMNS, "") | row for row in rows], columns=COLUMNS)


def compare(number: dict[str, str], ours: dict[str, str] | None, result: Result | None) -> dict:
    """One published number (a row of published/<paper>/<item>.csv) against our cell, if there is one."""
    line = {name: number[name] for name in ("paper", "item", "row", "column", "what", "unit", "source", "reason")}
    exact, data = number["kind"] == "exact", number["data"].split()
    line |= {"published": number["value"], "tolerance": "exact" if exact else f"{number['kind']} {number['tolerance']}"}
    if result is not None:
        line |= {"seeds": str(result.seeds), "scale": result.scale}
        line |= {"data": result.data_of(data), "kind": result.kind_of(data)}
    if result is None or ours is None or ours["value"] in {"", "nan"}:
        if result is not None and ours is None and not result.declared(data):
            log.warning("%s/%s provides no row '%s', column '%s'", *(number[name] for name in KEY))
        return line | {"verdict": "not run"}
    value, printed = as_number(ours["value"]), as_number(number["value"])
    line |= {"ours": ours["value"], "low": ours["low"], "high": ours["high"], "seeds": ours["seeds"]}
    line["difference"] = "" if value is None or printed is None else f"{value - printed:.4g}"
    waits = result.waits_for(number["needs"], data)
    return line | {"waits for": waits, "verdict": "not comparable here" if waits else judge(number, ours["value"])}


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
