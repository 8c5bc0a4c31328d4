"""Every check says yes where it should, and no where it should."""

import pandas as pd
import pytest

from clusterlens.errors import UserError
from clusterlens.verify.checks import CHECKS, Missing, check_arguments
from clusterlens.verify.numbers import as_number, as_text, rounds_to, same


def table(rows: dict[str, object], *, column: str = "x", spread: dict | None = None, verdict: dict | None = None):
    return pd.DataFrame(
        [
            {
                "row": row,
                "column": column,
                "value": str(value) if value is not None else None,
                "spread": str((spread or {}).get(row, "")),
                "verdict": (verdict or {}).get(row, ""),
            }
            for row, value in rows.items()
        ]
    )


ABC = table({"a": "21.34M", "b": "7.14M", "c": 5, "d": -1})
LAYERS = table({"layer 1": 0.1, "layer 10": 0.9, "layer 2": 0.2, "layer 4": 0.3})
FALLING = table({"t=0": 0.9, "t=0.5": 0.5, "t=10": 0.1})
FLAT = table({"t=1": 0.5, "t=2": 0.5, "t=3": 0.5})

# check, table, arguments that hold, arguments (or a table) that do not
CASES = [
    ("equals", ABC, {"row": "c", "column": "x", "value": 5}, {"row": "c", "column": "x", "value": 5.01}),
    (
        "text_equals",
        ABC,
        {"row": "a", "column": "x", "value": "21.34M"},
        {"row": "a", "column": "x", "value": "21.35M"},
    ),
    (
        "within",
        ABC,
        {"row": "c", "column": "x", "value": 5.1, "tolerance": 0.1001},
        {"row": ["c", "d"], "column": "x", "value": 5.1, "tolerance": 0.1001},
    ),
    (
        "at_least",
        ABC,
        {"row": ["a", "b"], "column": "x", "value": 7.14e6},
        {"row": ["a", "d"], "column": "x", "value": 0},
    ),
    ("at_most", ABC, {"row": "d", "column": "x", "value": -1}, {"row": "c", "column": "x", "value": 4.9}),
    (
        "between",
        ABC,
        {"row": "c", "column": "x", "low": 5, "high": 6},
        {"row": "c", "column": "x", "low": 5.1, "high": 6},
    ),
    (
        "ordered",
        ABC,
        {"rows": ["a", "b", "c", "d"], "column": "x", "margin": 5.9},
        {"rows": ["a", "b", "c", "d"], "column": "x", "margin": 6},
    ),
    (
        "difference_within",
        ABC,
        {"row": "c", "minus": "d", "column": "x", "value": 6.2, "tolerance": 0.3},
        {"row": "d", "minus": "c", "column": "x", "value": 6.2, "tolerance": 0.3},
    ),
    (
        "reduction_within",
        ABC,
        {"row": "b", "base": "a", "column": "x", "value": 66.5, "tolerance": 0.05},
        {"row": ["b", "d"], "base": ["a", "c"], "column": "x", "value": 66.5, "tolerance": 0.05},
    ),
    (
        "ratio_at_least",
        ABC,
        {"row": "a", "over": "b", "column": "x", "value": 2.9},
        {"row": "a", "over": "b", "column": "x", "value": 3},
    ),
    (
        "all_close",
        ABC,
        {"rows": ["c", "d"], "column": "x", "tolerance": 6},
        {"rows": ["b", "c", "d"], "column": "x", "tolerance": 6},
    ),
    (
        "increases_with",
        LAYERS,
        {"prefix": "layer ", "column": "x", "margin": 0.7},
        {"prefix": "layer ", "column": "x", "margin": 0.8},
    ),
    ("decreases_with", FALLING, {"prefix": "t=", "column": "x"}, {"prefix": "t=", "column": "x", "margin": 0.9}),
    (
        "does_not_increase",
        LAYERS,
        {"prefix": "layer ", "column": "x", "margin": 0.9},
        {"prefix": "layer ", "column": "x", "margin": 0.5},
    ),
]


@pytest.mark.parametrize(("name", "numbers", "holding", "failing"), CASES, ids=[case[0] for case in CASES])
def test_check_says_yes_and_no(name, numbers, holding, failing):
    yes, no = CHECKS[name](numbers, **holding), CHECKS[name](numbers, **failing)
    assert yes.held and not no.held
    assert yes.ours and no.ours


def test_every_check_is_tried():
    assert {case[0] for case in CASES} | {"beyond_noise", "as_published"} == set(CHECKS)


def test_a_gain_counts_only_beyond_its_interval():
    beyond_noise = CHECKS["beyond_noise"]
    assert beyond_noise(table({"gain": 2.5}, spread={"gain": 1.0}), row="gain", column="x").held
    assert not beyond_noise(table({"gain": 2.5}, spread={"gain": 2.6}), row="gain", column="x").held
    assert not beyond_noise(table({"gain": -2.5}, spread={"gain": 1.0}), row="gain", column="x").held
    assert not beyond_noise(table({"gain": 2.5}), row="gain", column="x").held, "one run shows nothing"


def test_order_has_to_exceed_the_spread_over_seeds():
    near = table({"a": 85.0, "b": 84.0}, spread={"a": 0.8, "b": 0.8})
    assert not CHECKS["ordered"](near, rows=["a", "b"], column="x").held
    clear = table({"a": 85.0, "b": 84.0}, spread={"a": 0.3, "b": 0.3})
    assert CHECKS["ordered"](clear, rows=["a", "b"], column="x").held
    assert not CHECKS["ordered"](clear, rows=["b", "a"], column="x").held


def test_as_published_wants_every_number_met():
    numbers = {"a": 1, "b": 2, "extra": 3}
    good = table(numbers, verdict={"a": "match", "b": "within tolerance"})
    bad = table(numbers, verdict={"a": "match", "b": "differs"})
    assert CHECKS["as_published"](good).held
    assert CHECKS["as_published"](bad).ours == "1 of 2 numbers met"
    assert not CHECKS["as_published"](bad).held
    assert CHECKS["as_published"](table(numbers, verdict={"a": "match", "b": "differs"}), columns=["x"]).held is False
    with pytest.raises(Missing):
        CHECKS["as_published"](table(numbers, verdict={"a": "match", "b": "not run"}))
    with pytest.raises(Missing):
        CHECKS["as_published"](table(numbers))


def test_trends_need_more_than_two_ends():
    jagged = table({"t=1": 0.5, "t=2": 0.9, "t=3": 0.8, "t=4": 0.7, "t=5": 0.55})
    assert not CHECKS["increases_with"](jagged, prefix="t=", column="x").held
    assert not CHECKS["increases_with"](FLAT, prefix="t=", column="x").held
    assert not CHECKS["decreases_with"](FLAT, prefix="t=", column="x").held
    assert CHECKS["does_not_increase"](FLAT, prefix="t=", column="x").held


def test_trends_take_only_rows_of_their_prefix():
    mixed = table({"t=1": 1, "t=2": 2, "hard t=3": -9, "t=final": -9})
    assert CHECKS["increases_with"](mixed, prefix="t=", column="x").held


@pytest.mark.parametrize(
    "call",
    [
        lambda: CHECKS["at_least"](ABC, row="nowhere", column="x", value=1),
        lambda: CHECKS["at_least"](ABC, row="a", column="y", value=1),
        lambda: CHECKS["at_least"](table({"a": "AdamW"}), row="a", column="x", value=1),
        lambda: CHECKS["at_least"](table({"a": None}), row="a", column="x", value=1),
        lambda: CHECKS["increases_with"](ABC, prefix="layer ", column="x"),
        lambda: CHECKS["ratio_at_least"](table({"a": 1, "b": 0}), row="a", over="b", column="x", value=1),
    ],
)
def test_a_number_that_is_not_there_is_missing_not_false(call):
    with pytest.raises(Missing):
        call()


def test_a_misspelt_check_or_argument_names_the_nearest():
    with pytest.raises(UserError, match=r"claim S\.x: unknown check 'orderd': did you mean 'ordered'"):
        check_arguments("S.x", "orderd", {})
    with pytest.raises(UserError, match="no argument 'colum': did you mean 'column'"):
        check_arguments("S.x", "equals", {"row": "a", "colum": "x", "value": 1})
    with pytest.raises(UserError, match="needs the argument 'value'"):
        check_arguments("S.x", "equals", {"row": "a", "column": "x"})
    check_arguments("S.x", "ordered", {"rows": ["a", "b"], "column": "x"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("21.34M", 21.34e6),
        ("1.38B", 1.38e9),
        ("10,000", 1e4),
        ("9e-4", 9e-4),
        ("15%", 15.0),
        ("−0.5", -0.5),
        ("+0.8", 0.8),
        (".96", 0.96),
        (3, 3.0),
        ("inf", float("inf")),
        ("AdamW", None),
        ("32×32", None),
        ("", None),
        ("—", None),
    ],
)
def test_printed_numbers_are_read(text, value):
    assert as_number(text) == value


def test_equal_numbers_are_equal_however_they_are_written():
    assert same("9e-4", 0.0009) and same("1.0", "1") and same("", "—") and same(float("nan"), "–")
    assert not same("21.34M", "21.35M") and not same("AdamW", "adamw") and not same("5", "—")
    assert as_text(None) == "—"


def test_rounding_is_to_the_printed_precision():
    assert rounds_to(0.8894, "0.89") and rounds_to(84.936, "84.94")
    assert not rounds_to(0.8849, "0.89") and not rounds_to(84.946, "84.94")
