"""Every check says yes where it should, no where it should, and nothing where the seeds do not decide."""

import numpy as np
import pandas as pd
import pytest

from clusterlens.errors import UserError
from clusterlens.metrics.numbers import number, share, text, tidy
from clusterlens.verify.checks import CHECKS, check_arguments
from clusterlens.verify.evidence import Missing, Numbers
from clusterlens.verify.labels import as_list
from clusterlens.verify.numbers import as_number, as_text, rounds_to, same
from clusterlens.verify.published import arguments, read_claims

SEEDS = np.arange(5)
NOISE = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) * 1e-6


def table(rows: dict[str, object], *, column: str = "x", verdict: dict | None = None) -> Numbers:
    """Rows of arrays are numbers over seeds, others are exact; all cells are texts, as they are read from a file."""
    made = [number(r, column, v) if isinstance(v, np.ndarray) else text(r, column, v) for r, v in rows.items()]
    cells = [{name: "" if entry != entry else str(entry) for name, entry in line.items()} for line in made]
    for line, value in zip(cells, rows.values(), strict=True):
        line |= {"verdict": (verdict or {}).get(line["row"], "")} | ({"value": None} if value is None else {})
    return Numbers(pd.DataFrame(cells))


ABC = table({"a": "21.34M", "b": "7.14M", "c": 5, "d": -1})
LAYERS = table({"layer 1": 0.1, "layer 10": 0.9, "layer 2": 0.2, "layer 4": 0.3})
FALLING = table({"t=0": 0.9, "t=0.5": 0.5, "t=10": 0.1})
FLAT = table({"t=1": 0.5, "t=2": 0.5, "t=3": 0.5})
X = {"column": "x"}

# check, table, arguments that hold, arguments that do not
CASES = [
    ("equals", ABC, {"row": "c", "value": 5}, {"row": "c", "value": 5.01}),
    ("text_equals", ABC, {"row": "a", "value": "21.34M"}, {"row": "a", "value": "21.35M"}),
    (
        "within",
        ABC,
        {"row": "c", "value": 5.1, "tolerance": 0.11},
        {"row": ["c", "d"], "value": 5.1, "tolerance": 0.11},
    ),
    ("at_least", ABC, {"row": ["a", "b"], "value": 7.14e6}, {"row": ["a", "d"], "value": 0}),
    ("at_most", ABC, {"row": "d", "value": -1}, {"row": "c", "value": 4.9}),
    ("between", ABC, {"row": "c", "low": 5, "high": 6}, {"row": "c", "low": 5.1, "high": 6}),
    ("ordered", ABC, {"rows": ["a", "b", "c", "d"], "margin": 5.9}, {"rows": ["a", "b", "c", "d"], "margin": 6}),
    ("difference_at_least", ABC, {"row": "c", "minus": "d", "value": 5.9}, {"row": "c", "minus": "d", "value": 6.1}),
    (
        "difference_within",
        ABC,
        {"row": "c", "minus": "d", "value": 6.2, "tolerance": 0.3},
        {"row": "d", "minus": "c", "value": 6.2, "tolerance": 0.3},
    ),
    ("positive", ABC, {"row": "c", "margin": 4}, {"row": ["c", "d"]}),
    ("differs", ABC, {"row": ["c", "d"], "margin": 0.9}, {"row": ["c", "d"], "margin": 1.1}),
    (
        "reduction_within",
        ABC,
        {"row": "b", "base": "a", "value": 66.5, "tolerance": 0.05},
        {"row": ["b", "d"], "base": ["a", "c"], "value": 66.5, "tolerance": 0.05},
    ),
    ("ratio_at_least", ABC, {"row": "a", "base": "b", "value": 2.9}, {"row": "a", "base": "b", "value": 3}),
    ("all_close", ABC, {"rows": ["c", "d"], "tolerance": 6}, {"rows": ["b", "c", "d"], "tolerance": 6}),
    ("increases_with", LAYERS, {"prefix": "layer ", "margin": 0.7}, {"prefix": "layer ", "margin": 0.8}),
    ("decreases_with", FALLING, {"prefix": "t="}, {"prefix": "t=", "margin": 0.9}),
    ("does_not_increase", LAYERS, {"prefix": "layer ", "margin": 0.9}, {"prefix": "layer ", "margin": 0.5}),
]


@pytest.mark.parametrize(("name", "numbers", "holding", "failing"), CASES, ids=[case[0] for case in CASES])
def test_check_says_yes_and_no(name, numbers, holding, failing):
    yes, no = CHECKS[name](numbers, **X, **holding), CHECKS[name](numbers, **X, **failing)
    assert yes.held is True and no.held is False
    assert yes.value and yes.threshold


def test_every_check_is_tried():
    assert {case[0] for case in CASES} | {"as_published"} == set(CHECKS)


# What a check says when an effect of a given size is measured with noise of deviation 1 over some seeds.
COMPARATIVE = {
    "ordered": lambda effect: ({"a": effect, "b": 0.0}, {"rows": ["a", "b"]}),
    "difference_at_least": lambda effect: ({"a": effect, "b": 0.0}, {"row": "a", "minus": "b"}),
    "positive": lambda effect: ({"a": effect}, {"row": "a"}),
    "differs": lambda effect: ({"a": effect}, {"row": "a", "margin": 1e-9}),
    "ratio_at_least": lambda effect: ({"a": 100 + effect, "b": 100.0}, {"row": "a", "base": "b", "value": 1}),
    "increases_with": lambda effect: ({f"t={t}": effect * t / 3 for t in range(4)}, {"prefix": "t="}),
    "decreases_with": lambda effect: ({f"t={t}": -effect * t / 3 for t in range(4)}, {"prefix": "t="}),
}


def draw(name: str, effect: float, seeds: int, rng: np.random.Generator) -> bool | None:
    rows, args = COMPARATIVE[name](effect)
    return CHECKS[name](table({row: mean + rng.normal(0, 1, seeds) for row, mean in rows.items()}), **X, **args).held


@pytest.mark.parametrize("seeds", [2, 5])
@pytest.mark.parametrize("name", COMPARATIVE)
def test_without_an_effect_a_comparison_is_reproduced_in_at_most_5_of_100_draws(name, seeds):
    rng = np.random.default_rng(len(name) + seeds)
    held = [draw(name, 0.0, seeds, rng) for _ in range(200)]
    assert np.mean([one is True for one in held]) <= 0.05 + 2.6 * (0.05 * 0.95 / 200) ** 0.5


@pytest.mark.parametrize("name", COMPARATIVE)
def test_a_large_effect_is_seen_and_its_opposite_refused(name):
    rng = np.random.default_rng(1)
    assert np.mean([draw(name, 12.0, 5, rng) is True for _ in range(30)]) > 0.9
    opposite = [draw(name, -12.0, 5, rng) for _ in range(30)]
    assert np.mean([one is (name == "differs") for one in opposite]) > 0.9


@pytest.mark.parametrize("name", sorted(set(COMPARATIVE) - {"ratio_at_least", "differs"}))
def test_one_seed_orders_nothing_without_a_margin(name):
    rows, args = COMPARATIVE[name](5.0)
    one_seed = table({row: np.array([mean]) for row, mean in rows.items()})
    assert CHECKS[name](one_seed, **X, **args).held is None
    margin = {"value": 1.0} if name == "difference_at_least" else {"margin": 1.0}
    assert CHECKS[name](one_seed, **X, **args, **margin).held is True


def test_pairing_by_seed_sees_what_unpaired_numbers_hide():
    base = np.array([10.0, 50.0, 90.0])
    paired = table({"a": base + np.array([1.0, 1.1, 0.9]), "b": base})
    assert CHECKS["ordered"](paired, rows=["a", "b"], **X).held is True
    rows = [number("a", "x", dict(zip((0, 1, 2), base + 1, strict=True)))]
    rows += [number("b", "x", dict(zip((3, 4, 5), base, strict=True)))]
    assert CHECKS["ordered"](Numbers(tidy(rows).astype(str).assign(verdict="")), rows=["a", "b"], **X).held is None


def test_as_published_wants_every_number_met():
    numbers = {"a": 1, "b": 2, "extra": 3}
    good = table(numbers, verdict={"a": "match", "b": "within tolerance"})
    bad = table(numbers, verdict={"a": "match", "b": "differs"})
    assert CHECKS["as_published"](good).held
    assert CHECKS["as_published"](bad).value == "1 of 2 numbers met"
    assert CHECKS["as_published"](bad, columns=["x"]).held is False
    apart = table(numbers, verdict={"a": "match", "b": "not comparable here"})
    assert CHECKS["as_published"](apart).held is None
    with pytest.raises(Missing):
        CHECKS["as_published"](table(numbers, verdict={"a": "match", "b": "not run"}))
    with pytest.raises(Missing):
        CHECKS["as_published"](table(numbers))


def test_trends_need_more_than_two_ends():
    jagged = table({"t=1": 0.5, "t=2": 0.9, "t=3": 0.8, "t=4": 0.7, "t=5": 0.55})
    assert CHECKS["increases_with"](jagged, prefix="t=", **X).held is False
    assert CHECKS["increases_with"](FLAT, prefix="t=", **X).held is False
    assert CHECKS["decreases_with"](FLAT, prefix="t=", **X).held is False
    assert CHECKS["does_not_increase"](FLAT, prefix="t=", **X, margin=0).held is True


def test_trends_take_only_rows_of_their_prefix():
    mixed = table({"t=1": 1, "t=2": 2, "hard t=3": -9, "t=final": -9})
    assert CHECKS["increases_with"](mixed, prefix="t=", **X).held


@pytest.mark.parametrize(
    "call",
    [
        lambda: CHECKS["at_least"](ABC, row="nowhere", column="x", value=1),
        lambda: CHECKS["at_least"](ABC, row="a", column="y", value=1),
        lambda: CHECKS["at_least"](table({"a": "AdamW"}), row="a", column="x", value=1),
        lambda: CHECKS["at_least"](table({"a": None}), row="a", column="x", value=1),
        lambda: CHECKS["increases_with"](ABC, prefix="layer ", column="x"),
        lambda: CHECKS["ratio_at_least"](table({"a": 1, "b": 0}), row="a", base="b", column="x", value=1),
    ],
)
def test_a_number_that_is_not_there_is_missing_not_false(call):
    with pytest.raises(Missing):
        call()


def made_for(claim: dict, sign: int) -> Numbers:
    """Numbers that fulfil a claim's check (sign 1) or violate it (sign -1), over five seeds."""
    args, check = arguments(claim), claim["check"]
    value, margin = (
        args.get("value", 0),
        args.get("margin", args.get("value", 0) if check == "difference_at_least" else 0),
    )
    tolerance = args.get("tolerance", 0)
    step = 2 * abs(margin) + 1
    if check == "as_published":
        verdicts = {"a": "match", "b": "match" if sign > 0 else "differs"}
        return table({"a": 1, "b": 2}, column=args.get("columns", ["x"])[0], verdict=verdicts)
    if check in ("increases_with", "decreases_with", "does_not_increase"):
        slope = {"increases_with": step, "decreases_with": -step, "does_not_increase": -step}[check] * sign
        rows = {f"{args['prefix']}{place}": slope * place for place in range(1, 5)}
    elif check in ("ordered", "all_close"):
        gap = step * sign if check == "ordered" else {1: tolerance / 9, -1: 2 * tolerance + 1}[sign]
        rows = {row: -gap * place for place, row in enumerate(args["rows"])}
    elif check in ("difference_at_least", "difference_within"):
        wanted = {1: value, -1: value + 3 * tolerance + 1}[sign] if check == "difference_within" else step * sign
        rows = {args["minus"]: 10.0, args["row"]: 10.0 + wanted}
    elif check in ("ratio_at_least", "reduction_within"):
        pairs = zip(as_list(args["row"]), as_list(args["base"]), strict=True)
        share = (
            {1: 2 * value, -1: value / 2}[sign] if check == "ratio_at_least" else {1: 1 - value / 100, -1: 1.5}[sign]
        )
        rows = {name: number for row, base in pairs for name, number in ((row, 100 * share), (base, 100.0))}
    else:
        fulfilled = {"at_least": abs(value) + value + 1, "at_most": value - abs(value) - 1, "between": None}
        good = {"positive": step, "differs": step, "between": (args.get("low", 0) + args.get("high", 0)) / 2}
        good |= {key: entry for key, entry in fulfilled.items() if entry is not None}
        bad = {"at_least": value - abs(value) - 1, "at_most": value + abs(value) + 1, "positive": -step, "differs": 0.0}
        bad |= {"between": args.get("high", 0) + 1}
        number_wanted = (good if sign > 0 else bad).get(check, value if sign > 0 else value + 3 * tolerance + 1)
        rows = dict.fromkeys(as_list(args["row"]), number_wanted)
    if check in ("equals", "text_equals"):
        return table(rows, column=args["column"])
    return table({row: entry + NOISE for row, entry in rows.items()}, column=args["column"])


@pytest.mark.parametrize("claim", [one for one in read_claims() if "check" in one], ids=lambda claim: claim["id"])
def test_every_claim_can_hold_and_can_fail(claim):
    check = CHECKS[claim["check"]]
    assert check(made_for(claim, 1), **arguments(claim)).held is True
    assert check(made_for(claim, -1), **arguments(claim)).held is False


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


def test_of_several_numbers_each_comes_with_its_interval():
    rows = table({"a": np.array([20.0, 22.0, 24.0]), "b": np.array([15.0]), "c": 3})
    found = CHECKS["at_most"](rows, row=["a", "b", "c"], **X, value=21)
    half = 2 / 3**0.5 * 4.302652729911275  # standard error times the quantile of t with two degrees of freedom
    assert found.held is None
    assert found.value == f"a 22 ({22 - half:.4g} to {22 + half:.4g}), b 15, c 3"


# check, arguments that a mean of 22 with an interval of 17 to 27 meets, fails, and leaves open
LIMITS = [
    ("at_least", {"value": 17}, {"value": 27.1}, {"value": 21}),
    ("at_most", {"value": 27}, {"value": 16.9}, {"value": 23}),
    ("between", {"low": 17, "high": 27}, {"low": 28, "high": 30}, {"low": 20, "high": 40}),
    ("within", {"value": 22, "tolerance": 5}, {"value": 40, "tolerance": 5}, {"value": 22, "tolerance": 1}),
]


@pytest.mark.parametrize(("name", "met", "failed", "open_"), LIMITS, ids=[case[0] for case in LIMITS])
def test_a_mean_over_seeds_goes_by_its_interval(name, met, failed, open_):
    rows = table({"a": np.array([20.0, 22.0, 24.0])})
    assert [CHECKS[name](rows, row="a", **X, **args).held for args in (met, failed, open_)] == [True, False, None]
    one_seed = table({"a": np.array([22.0])})
    assert CHECKS[name](one_seed, row="a", **X, **open_).held is True


def test_a_difference_from_a_printed_one_goes_by_its_interval():
    rows, args = table({"a": np.array([20.0, 22.0, 24.0]), "b": np.zeros(3)}), {"row": "a", "minus": "b", **X}
    held = [
        CHECKS["difference_within"](rows, **args, value=value, tolerance=tolerance).held
        for value, tolerance in ((22, 5), (40, 5), (22, 1))
    ]
    assert held == [True, False, None]


def test_a_share_goes_by_its_value_though_ten_seeds_leave_a_wide_interval():
    happened = share("a", "x", np.ones(10))
    assert happened["low"] < 0.9
    numbers = Numbers(tidy([happened]).astype(str).assign(verdict=""))
    assert CHECKS["at_least"](numbers, row="a", **X, value=0.9).held is True


def test_rows_are_close_by_the_interval_of_their_difference():
    noise = np.array([-1.0, 0.0, 1.0])
    rows = table({"a": 20 + noise, "b": 20.5 + noise, "c": 22 - noise})
    held = [
        CHECKS["all_close"](rows, rows=chosen, **X, tolerance=tolerance).held
        for chosen, tolerance in ((["a", "b"], 0.6), (["a", "b"], 0.4), (["a", "c"], 3))
    ]
    assert held == [True, False, None]
    wide = CHECKS["all_close"](rows, rows=["a", "c"], **X, tolerance=3)
    assert wide.value == "2 apart" and wide.low < 2 < wide.high and wide.low + wide.high == pytest.approx(4)
