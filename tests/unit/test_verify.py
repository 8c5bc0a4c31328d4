"""Comparison, verdicts and captions on small made-up results."""

import json
import logging

import docutils.core
import pandas as pd
import pytest
from scipy import stats

from clusterlens.data.formats import write_csv
from clusterlens.errors import UserError
from clusterlens.figures.verdicts import COLOURS, draw_verdicts
from clusterlens.items import read_items
from clusterlens.metrics.numbers import number, text, tidy
from clusterlens.provenance import EMBEDDED, OWN, stand_in
from clusterlens.verify.captions import compose
from clusterlens.verify.claims import COLUMNS as CLAIM_COLUMNS
from clusterlens.verify.claims import VERDICTS as CLAIM_VERDICTS
from clusterlens.verify.claims import judge_all
from clusterlens.verify.compare import COLUMNS, VERDICTS, compare_all
from clusterlens.verify.published import read_claims, read_published
from clusterlens.verify.results import read_results

ITEMS = read_items()
DIGITS = stand_in("cifar10", "digits for cifar10", EMBEDDED)


def printed(item, row, column, value, *, tolerance="", kind="exact", needs="", data=""):
    cells = {"paper": "spiking", "item": item, "row": row, "column": column, "value": value, "unit": ""}
    cells["what"] = "measurement"
    return cells | {
        "tolerance": tolerance,
        "kind": kind,
        "needs": needs,
        "data": data,
        "source": "p. 1",
        "reason": "because",
    }


def write(folder, item, rows, *, scale="mini", stand_ins=(), seeds=(0,)):
    """One result in <folder>/spiking, exact cells by row and column or numbers; returns the path of its manifest."""
    paper = folder / "spiking"
    paper.mkdir(exist_ok=True)
    made = rows if isinstance(rows, list) else [text(*place, value) for place, value in rows.items()]
    write_csv(paper / f"{item}.numbers.csv", tidy(made))
    manifest = paper / f"{item}.manifest.json"
    manifest.write_text(json.dumps({"scale": scale, "stand_ins": list(stand_ins), "seeds": list(seeds)}))
    return str(manifest)


def verdicts(rows, manifests):
    table = compare_all(pd.DataFrame(rows), read_results(manifests, ITEMS))
    assert list(table.columns) == COLUMNS and set(table["verdict"]) <= set(VERDICTS)
    return table


def test_numbers_meet_miss_and_match(tmp_path):
    ours = {("a", "Parameters"): "21.34M", ("b", "Parameters"): "7.10M", ("c", "Parameters"): "9.0e-4"}
    ours |= {("d", "Parameters"): "90", ("a", "Top"): 0.8894, ("b", "Top"): 84, ("c", "Top"): 90, ("d", "Top"): ""}
    manifest = write(tmp_path, "table1", ours)
    table = verdicts(
        [
            printed("table1", "a", "Parameters", "21.34M"),
            printed("table1", "b", "Parameters", "7.14M"),
            printed("table1", "c", "Parameters", "9e-4"),
            printed("table1", "a", "Top", "0.89", tolerance="0.0001", kind="abs"),
            printed("table1", "b", "Top", "85.5", tolerance="1.5", kind="abs"),
            printed("table1", "c", "Top", "100", tolerance="0.09", kind="rel"),
            printed("table1", "d", "Parameters", "100", tolerance="0.11", kind="rel"),
            printed("table1", "d", "Top", "1"),
            printed("table1", "a", "Side", "1"),
        ],
        [manifest],
    )
    expected = ["match", "differs", "match", "match", "within tolerance", "differs", "within tolerance"]
    assert list(table["verdict"]) == [*expected, "not run", "not run"]
    assert list(table["difference"])[4:6] == ["-1.5", "-10"]
    assert list(table["tolerance"])[:6] == ["exact", "exact", "exact", "abs 0.0001", "abs 1.5", "rel 0.09"]


def test_an_item_without_a_result_is_not_run(tmp_path):
    table = verdicts([printed("table2", "a", "Top", "84.94")], [])
    assert table.loc[0, "verdict"] == "not run" and table.loc[0, "ours"] == "" and table.loc[0, "scale"] == ""


def test_stand_ins_and_scale_withhold_the_verdict_but_show_the_number(tmp_path):
    needing = [
        printed("table2", "a", "Top", "84.94", needs=needs, data=data)
        for needs, data in [("", ""), ("data", ""), ("data", "cifar10"), ("data", "heart"), ("paper", "")]
    ]
    for row, label in zip(needing, "abcde", strict=True):
        row["row"] = label
    ours = {(label, "Top"): "84.94" for label in "abcde"}
    mini = write(tmp_path, "table2", ours, stand_ins=[DIGITS])
    table = verdicts(needing, [mini])
    waiting = "not comparable here"
    assert list(table["verdict"]) == ["match", waiting, waiting, "match", waiting]
    assert set(table["ours"]) == {"84.94"}
    assert list(table["data"]) == ["digits for cifar10"] * 3 + ["", "digits for cifar10"]
    assert list(table["waits for"]) == ["", "data", "data", "", "data and scale"]
    real = write(tmp_path, "table2", ours)
    assert list(verdicts(needing, [real])["verdict"]) == ["match"] * 4 + [waiting], "real data at mini scale"
    paper = write(tmp_path, "table2", ours, scale="paper")
    assert list(verdicts(needing, [paper])["verdict"]) == ["match"] * 5


@pytest.mark.parametrize(
    ("data", "counts"),
    [(["cifar10"], True), (["heart"], False), ([], True), (["c4"], False), (["c4", "cifar10"], True)],
)
def test_a_stand_in_counts_against_what_it_replaces(tmp_path, data, counts):
    manifest = write(tmp_path, "table2", {("a", "Top"): 1}, stand_ins=[stand_in("cifar10", "c4.npz for CIFAR-10", OWN)])
    (result,) = read_results([manifest], ITEMS).values()
    assert bool(result.stand_ins_of(data)) == counts == (result.waits_for("data", data) == "data")


def test_seeds_and_intervals_are_carried_along(tmp_path):
    table2 = write(tmp_path, "table2", [number("a", "Top", {0: 83.0, 1: 84.0, 2: 85.0})], seeds=(0, 1, 2))
    table = verdicts([printed("table2", "a", "Top", "84")], [table2])
    assert table.loc[0, "seeds"] == "3" and table.loc[0, "verdict"] == "match"
    assert float(table.loc[0, "high"]) == pytest.approx(84 + stats.t.ppf(0.975, 2) / 3**0.5)


def test_a_numbers_file_of_another_form_is_refused(tmp_path):
    manifest = write(tmp_path, "fig1", {("t=5", "clusters"): 1})
    (tmp_path / "spiking" / "fig1.numbers.csv").write_text("row,column,value\nt=5,clusters,1\n")
    with pytest.raises(UserError, match="it must have row, column, value, low, high, seeds, by_seed"):
        read_results([manifest], ITEMS)


def claim(name, **entries):
    basic = {"id": f"S.{name}", "paper": "spiking", "claim": "it is so", "source": "p. 1", "item": "table2"}
    return basic | entries


HIGH = {"check": "at_least", "args": {"row": "a", "column": "Top", "value": 80}}
HIGHER = {"check": "at_least", "args": {"row": "a", "column": "Top", "value": 90}}


def judged(claims, manifests, rows=()):
    results = read_results(manifests, ITEMS)
    numbers = pd.DataFrame(list(rows) or [printed("table2", "a", "Top", "84", tolerance="1", kind="abs")])
    table = judge_all(claims, results, compare_all(numbers, results))
    assert list(table.columns) == CLAIM_COLUMNS and set(table["verdict"]) <= set(CLAIM_VERDICTS)
    return table.set_index("id")


def test_claims_get_every_verdict(tmp_path):
    manifest = write(tmp_path, "table2", {("a", "Top"): 84.2}, stand_ins=[DIGITS], seeds=(0, 1))
    table = judged(
        [
            claim("yes", **HIGH),
            claim("no", **HIGHER),
            claim("never", cannot_hold="1 is not 2", **HIGHER),
            claim("never_checked", cannot_hold="1 is not 2"),
            claim("both", contradicts="page 2 says otherwise"),
            claim("later", needs="paper", **HIGH),
            claim("later_not", needs="paper", **HIGHER),
            claim("other_data", needs="data", data=["heart"], **HIGH),
            claim("as_printed", check="as_published"),
            claim("missing", check="equals", args={"row": "z", "column": "Top", "value": 1}),
            claim("missing_here", needs="data", check="equals", args={"row": "z", "column": "Top", "value": 1}),
            claim("absent", **(HIGH | {"item": "table1"})),
            claim(
                "close", check="within", args={"row": "a", "column": "Top", "value": 84}, tolerance=0.3, reason="seeds"
            ),
        ],
        [manifest],
    )
    assert dict(table["verdict"]) == {
        "S.yes": "reproduced",
        "S.no": "not reproduced",
        "S.never": "cannot hold",
        "S.never_checked": "cannot hold",
        "S.both": "contradicts itself",
        "S.later": "held here",
        "S.later_not": "did not hold here",
        "S.other_data": "reproduced",
        "S.as_printed": "reproduced",
        "S.missing": "not run",
        "S.missing_here": "not comparable here",
        "S.absent": "not run",
        "S.close": "reproduced",
    }
    assert table.loc["S.no", "ours"] == "84.2" and table.loc["S.no", "threshold"] == "≥ 90"
    assert table.loc["S.never", "ours"] == "84.2" and table.loc["S.never", "reason"] == "1 is not 2"
    assert table.loc["S.later", "waits for"] == "data and scale" and table.loc["S.yes", "waits for"] == ""
    assert "'z'" in table.loc["S.missing", "ours"]
    assert table.loc["S.yes", "data"] == "digits for cifar10" and table.loc["S.close", "published"] == "84"
    assert table.loc["S.yes", "published"] == ""  # 80 is the threshold


def test_a_published_number_that_we_lack_leaves_the_claim_open(tmp_path):
    manifest = write(tmp_path, "table2", {("a", "Top"): 84.2})
    rows = [printed("table2", "a", "Top", "84.2"), printed("table2", "b", "Top", "80")]
    assert judged([claim("all", check="as_published")], [manifest], rows).loc["S.all", "verdict"] == "not run"


def test_a_missing_label_is_a_line_on_the_screen_unless_a_stand_in_declares_other_features(tmp_path, caplog):
    clusterlens_log = logging.getLogger("clusterlens")
    clusterlens_log.propagate = True
    lacking = [claim("lost", check="equals", args={"row": "z", "column": "Top", "value": 1})]
    judged(lacking, [write(tmp_path, "table2", {("a", "Top"): 84.2})])
    assert "claim S.lost cannot be judged: spiking/table2 has no row 'z', column 'Top'" in caplog.text
    caplog.clear()
    other = stand_in("heart", "wine", EMBEDDED, {"features": ["ash"]})
    judged(lacking, [write(tmp_path, "table2", {("a", "Top"): 84.2}, stand_ins=[other])])
    assert caplog.text == ""


def test_the_real_registry_can_be_judged_without_any_result():
    comparison = compare_all(read_published(), {})
    claims = judge_all(read_claims(), {}, comparison)
    assert set(comparison["verdict"]) == {"not run"}
    assert set(claims["verdict"]) <= {"not run", "cannot hold", "contradicts itself"}


def test_captions_are_valid_and_say_the_verdict():
    claims = pd.DataFrame(
        [
            {"claim": "x_1 is *large* (|a|)", "verdict": "reproduced", "ours": "x_1_ 3 `b`", "reason": "so"},
            {"claim": "both hold", "verdict": "cannot hold", "ours": "", "reason": "1 is not 2"},
        ]
    ).assign(low=["2.5", ""], high=["3.5", ""], threshold=["≥ 2", ""], seeds=5, whose=["ours", "paper"])
    text = compose("See this.\n", claims, ["digits for cifar10"], "mini")
    html = docutils.core.publish_string(text, writer="html", settings_overrides={"halt_level": 2}).decode()
    told = ("x_1 is *large* (|a|)", "x_1_ 3 `b`", "95 % interval 2.5 to 3.5, 5 seeds", "threshold: ≥ 2", "our question")
    for words in ("See this.", *told, "1 is not 2", "digits for cifar10", "mini configuration"):
        assert words in html
    assert "<strong>reproduced</strong>" in html and "so<" not in html
    assert compose("See this.\n", claims[:0], [], "paper") == "See this.\n"
    assert "mini configuration" in compose("See this.\n", claims[:0], [], "mini")


def test_the_picture_has_one_tile_per_claim():
    items, comparison = read_items(), compare_all(read_published(), {})
    claims = judge_all(read_claims(), {}, comparison)
    figure = draw_verdicts(claims, comparison, items, scale="mini")
    assert set(COLOURS) == set(CLAIM_VERDICTS)
    assert sum(len(axis.patches) for axis in figure.axes) == len(claims)
