"""Verdicts at laptop scale: on real data only, and never mixed with those on the papers."""

import numpy as np
import pandas as pd
import pytest

from clusterlens.data import embedded, facts, retrieve, user_files
from clusterlens.data.registry import load
from clusterlens.figures.verdicts import draw_verdicts
from clusterlens.files import write_json
from clusterlens.items import read_items
from clusterlens.metrics.numbers import number, tidy
from clusterlens.provenance import EMBEDDED, OWN, REAL, ROOT, stand_in
from clusterlens.schema import read_yaml
from clusterlens.verify import claims
from clusterlens.verify.claims import judge, judge_all
from clusterlens.verify.compare import COLUMNS, compare_all
from clusterlens.verify.evidence import Outcome
from clusterlens.verify.published import read_claims, read_published
from clusterlens.verify.results import Result, data_kind

NOTHING = pd.DataFrame(columns=COLUMNS)
CIFAR = "cifar10"
DATA = {
    "whole": (),
    "subset": (stand_in(CIFAR, "a subset", REAL),),
    "embedded": (stand_in(CIFAR, "digits", EMBEDDED),),
    "own": (stand_in(CIFAR, "mine.npz", OWN),),
    "both": (stand_in(CIFAR, "a subset", REAL), stand_in(CIFAR, "digits", EMBEDDED)),
    "other": (stand_in("heart", "wine", EMBEDDED),),
    "unsaid": ({"dataset": CIFAR, "label": "of an older manifest"},),
}
SEEDS = {"yes": {0: 91.0, 1: 92.0, 2: 91.5}, "no": {0: 70.0, 1: 71.0, 2: 70.5}, "open": {0: 60.0, 1: 99.0, 2: 80.0}}
PAPER = {"yes": "reproduced", "no": "not reproduced", "open": "undecided"}
HERE = {"yes": "held here", "no": "did not hold here", "open": "not comparable here"}
LAPTOP = {
    "yes": "held at laptop scale",
    "no": "did not hold at laptop scale",
    "open": "undecided at laptop scale",
}


def result(scale: str, data: str, found: str) -> Result:
    numbers = tidy([number("a", "Top", SEEDS[found]), number("b", "Top", {0: 80.0, 1: 80.0, 2: 80.0})])
    return Result(numbers.astype(str).fillna(""), scale, DATA[data], 3)


def judged(scale: str, data: str, found: str, *, needs: str, run: str) -> dict:
    claim = {"id": "S.x", "paper": "spiking", "item": "table2", "needs": needs, "data": [CIFAR]}
    claim |= {"check": "difference_at_least", "args": {"row": "a", "minus": "b", "column": "Top", "value": 0}}
    return judge(claim, result(scale, data, found), NOTHING, run)


@pytest.mark.parametrize("found", SEEDS)
@pytest.mark.parametrize(
    ("needs", "run", "scale", "data", "expected"),
    [
        ("paper", "laptop", "laptop", "whole", LAPTOP),
        ("paper", "laptop", "laptop", "subset", LAPTOP),
        ("paper", "laptop", "paper", "subset", LAPTOP),
        ("paper", "laptop", "laptop", "other", LAPTOP),
        ("paper", "laptop", "laptop", "embedded", HERE),
        ("paper", "laptop", "laptop", "both", HERE),
        ("paper", "laptop", "laptop", "own", HERE),
        ("paper", "laptop", "laptop", "unsaid", HERE),
        ("paper", "laptop", "paper", "whole", PAPER),
        ("data", "laptop", "laptop", "subset", LAPTOP),
        ("data", "laptop", "paper", "subset", LAPTOP),
        ("data", "laptop", "laptop", "embedded", HERE),
        ("data", "laptop", "laptop", "whole", PAPER),
        ("", "laptop", "laptop", "embedded", PAPER),
        ("paper", "mini", "mini", "whole", HERE),
        ("paper", "mini", "mini", "embedded", HERE),
        ("data", "mini", "mini", "subset", HERE),
        ("paper", "laptop", "mini", "whole", HERE),
        ("data", "paper", "paper", "subset", HERE),
        ("paper", "paper", "custom", "whole", HERE),
        ("paper", "paper", "paper", "whole", PAPER),
    ],
)
def test_scale_data_and_outcome_give_the_verdict(needs, run, scale, data, expected, found):
    line = judged(scale, data, found, needs=needs, run=run)
    assert line["verdict"] == expected[found]
    assert line["low"] and line["high"], "with its interval"
    if expected is LAPTOP:
        assert line["scale"] == "laptop" and line["waits for"] and line["kind"] == "smaller scale"
        assert line["data"] == ("a subset" if data == "subset" else "")


def test_a_single_number_goes_by_its_interval():
    claim = {"id": "S.x", "paper": "spiking", "item": "table2", "needs": "paper", "check": "at_least"}
    claim |= {"args": {"row": "a", "column": "Top", "value": 75}}
    line = judge(claim, result("laptop", "subset", "open"), NOTHING, "laptop")
    assert line["verdict"] == "undecided at laptop scale" and float(line["low"]) < 75 < float(line["high"])


def test_numbers_that_cannot_be_compared_leave_nothing_for_the_seeds_to_decide():
    published = {"paper": "spiking", "item": "table2", "row": "a", "column": "Top", "verdict": "not comparable here"}
    compared = pd.DataFrame([dict.fromkeys(COLUMNS, "") | published])
    claim = {"id": "S.x", "paper": "spiking", "item": "table2", "needs": "paper", "check": "as_published"}
    line = judge(claim, result("laptop", "whole", "yes"), compared, "laptop")
    assert line["verdict"] == "not comparable here" and "1 not comparable" in line["ours"]


@pytest.mark.parametrize(("run", "scale"), [("laptop", "laptop"), ("mini", "mini"), ("paper", "custom")])
def test_a_number_that_is_bound_to_the_papers_scale_is_not_compared_at_another(run, scale):
    claim = {"id": "S.x", "paper": "spiking", "item": "table2", "needs": "paper", "check": "at_least"}
    claim |= {"args": {"row": "a", "column": "Top", "value": 75}, "bound_to_scale": "hours on a V100"}
    line = judge(claim, result(scale, "whole", "yes"), NOTHING, run)
    assert (line["verdict"], line["reason"], line["ours"]) == ("not comparable here", "hours on a V100", "91.5")
    assert judge(claim, result("paper", "whole", "yes"), NOTHING, "paper")["verdict"] == "reproduced"


@pytest.mark.parametrize("held", [True, False, None])
def test_the_register_is_never_judged_on_both_terms(monkeypatch, held):
    """Real data at laptop scale: what needs the paper's scale gets a laptop verdict, all else that of the paper."""
    monkeypatch.setattr(claims, "look", lambda *_: (Outcome(held, "1", "0"), ""))
    known = [claim for claim in read_claims() if not {"cannot_hold", "contradicts", "bound_to_scale"} & claim.keys()]
    places = {(claim["paper"], claim["item"]) for claim in known}
    table = judge_all(known, dict.fromkeys(places, result("laptop", "whole", "yes")), NOTHING, "laptop")
    needing = pd.Series([claim.get("needs", "") == "paper" for claim in known])
    word = {True: "yes", False: "no", None: "open"}[held]
    assert needing.sum() > 30 and set(table.loc[needing, "verdict"]) == {LAPTOP[word]}
    assert (~needing).sum() > 100 and set(table.loc[~needing, "verdict"]) == {PAPER[word]}


def test_every_replacement_says_what_kind_it_is(tmp_path, monkeypatch):
    heart = {"title": "the table", "licence": "", "counts": {"rows": 10}, "kind": "table"}
    heart |= {
        "smaller": ["albert/albert-base-v2"],
        "embedded": {"label": "wine"},
        "mirror": {"folder": "heart", "files": ["heart.csv"]},
    }
    monkeypatch.setitem(embedded.WRITERS, "heart", lambda settings, raw: None)
    monkeypatch.setitem(user_files.COPIERS, "table", lambda files, names, raw: None)
    monkeypatch.setitem(retrieve.FETCHERS, "hub", lambda *_: "main")
    sources = {
        "embedded": ({"source": "embedded"}, EMBEDDED),
        "own": ({"source": "file", "files": {"table": "mine.csv"}}, OWN),
        "smaller": ({"source": "hub", "files": {"folder": "albert/albert-base-v2@abc"}}, REAL),
        "hub": ({"source": "hub", "files": {"folder": "someone/albert-base-v2"}}, OWN),
    }
    for settings, kind in sources.values():
        (entry,) = retrieve.gather("heart", heart, settings, None, tmp_path, tmp_path)["stand_ins"]
        assert entry["kind"] == kind
    raw = {"dataset": "heart", "files": {}, "stand_ins": []} | dict.fromkeys(("title", "licence", "source"), "")
    write_json(tmp_path / "raw.json", raw | {"revision": ""})
    found = facts.facts_of(heart, {"rows": 5}, str(tmp_path / "raw.json"), {"features": ["age"]})["stand_ins"]
    assert [entry["kind"] for entry in found] == [REAL, REAL]


@pytest.mark.parametrize(
    ("scale", "data", "kind"),
    [
        ("", "whole", "no result"),
        ("paper", "whole", "as in the paper"),
        ("laptop", "whole", "smaller scale"),
        ("paper", "subset", "smaller scale"),
        ("laptop", "both", "stand-in data"),
        ("paper", "own", "stand-in data"),
        ("mini", "unsaid", "stand-in data"),
    ],
)
def test_what_a_result_rests_on(scale, data, kind):
    assert data_kind(scale, DATA[data]) == kind


def test_the_legend_of_the_picture_holds_the_verdicts_that_occur():
    comparison = compare_all(read_published(), {})
    table = judge_all(read_claims(), {}, comparison)
    table.loc[0, "verdict"] = "undecided at laptop scale"
    (legend,) = draw_verdicts(table, comparison, read_items(), scale="laptop").legends
    counts = table["verdict"].value_counts()
    assert {text.get_text() for text in legend.get_texts()} == {f"{name} ({n})" for name, n in counts.items()}
    assert "undecided at laptop scale (1)" in {text.get_text() for text in legend.get_texts()}


def test_the_legend_fits_below_the_picture_when_all_verdicts_occur():
    comparison = compare_all(read_published(), {})
    table = judge_all(read_claims(), {}, comparison)
    table["verdict"] = np.resize(claims.VERDICTS, len(table))
    figure = draw_verdicts(table, comparison, read_items(), scale="laptop")
    figure.canvas.draw()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1


def test_the_laptops_checkpoints_are_smaller_ones_of_the_same_family():
    registry, laptop = load(ROOT / "config" / "datasets.yaml"), read_yaml(ROOT / "config" / "laptop.yaml")
    named = {name: settings["files"]["folder"] for name, settings in laptop["data"].items() if "files" in settings}
    assert named
    for name, folder in named.items():
        assert folder.partition("@")[0] in registry[name]["smaller"]
