"""The diagnosis: data of every kind, the ranking with its ties, the recommendation and the page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from PIL import Image

from clusterlens.attention import profiling
from clusterlens.attention.cases import MODES
from clusterlens.attention.diagnosis import candidates, diagnose
from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.profiling import peak_memory
from clusterlens.attention.tokens import from_image, from_matrix, from_table
from clusterlens.data.diagnosed import check_diagnosis, named_files, uses_example
from clusterlens.errors import UserError
from clusterlens.figures.diagnosis_page import compose
from clusterlens.metrics.ranking import places, ranked, recommendation, summary, verdict

SCHEMAS = Path(__file__).resolve().parents[2] / "workflow" / "schemas"
SETTINGS = {"clusters": [2, 3], "seeds": [0, 1], "iterations": 3, "axis": "feature", "radius": 0.1, "time_limit": 60}


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return pd.DataFrame({"a": rng.normal(size=n) + 3 * y, "b": rng.normal(size=n) - 3 * y, "text": "t", "y": y})


def table_file(folder, table):
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def tokens(tmp_path):
    return from_table(table_file(tmp_path, frame()), ["a", "b"], "y", limit=1000)


def test_a_table_gives_standardised_tokens_labels_and_directions(tokens):
    np.testing.assert_allclose(tokens.x.mean(axis=0), 0, atol=1e-12)
    assert tokens.signs.tolist() == [1, -1] and set(tokens.labels) == {0, 1} and not tokens.ordered


def test_columns_default_to_numeric_ones_and_gaps_are_left_out(tmp_path):
    table = frame()
    table.loc[3, "a"] = np.nan
    tokens = from_table(table_file(tmp_path, table), [], "y", limit=1000)
    assert tokens.x.shape == (59, 2) and "1 rows with gaps" in tokens.about
    assert from_table(table_file(tmp_path, table), [], None, limit=20).x.shape == (20, 3)


@pytest.mark.parametrize(
    ("change", "columns", "label", "message"),
    [
        (lambda t: t.head(2), ["a", "b"], None, "gives 2 tokens"),
        (lambda t: t.assign(a=1.0), ["a", "b"], None, "column 'a' is constant"),
        (lambda t: t.assign(y=np.arange(60) % 3), ["a", "b"], "y", r"3 classes \(0, 1, 2\)"),
        (lambda t: t, ["a", "c"], None, "no column 'c'"),
        (lambda t: t, ["text"], None, "not numeric"),
        (lambda t: t[["text"]], [], None, "no numeric column"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_one_line(tmp_path, change, columns, label, message):
    path = table_file(tmp_path, change(frame()))
    with pytest.raises(UserError, match=message) as refusal:
        from_table(path, columns, label, limit=1000)
    assert "\n" not in str(refusal.value)


def test_an_image_need_not_be_square_and_is_made_smaller(tmp_path):
    pixels = np.zeros((20, 50, 3), dtype=np.uint8)
    pixels[5:15, 10:40] = (200, 100, 50)
    Image.fromarray(pixels).save(tmp_path / "i.png")
    Image.fromarray(((pixels[..., 0] > 0) * 255).astype(np.uint8)).save(tmp_path / "m.png")
    whole = from_image(str(tmp_path / "i.png"), str(tmp_path / "m.png"), limit=5000)
    assert whole.x.shape == (1000, 3) and whole.mask.shape == (20, 50) and whole.mask.sum() == 300
    small = from_image(str(tmp_path / "i.png"), None, limit=300)
    assert len(small.x) <= 300 and "made smaller" in small.about
    Image.fromarray(pixels[:10, :, 0]).save(tmp_path / "m.png")
    with pytest.raises(UserError, match="must agree"):
        from_image(str(tmp_path / "i.png"), str(tmp_path / "m.png"), limit=5000)


def test_a_matrix_comes_from_npy_or_csv(tmp_path):
    values = np.random.default_rng(0).normal(size=(30, 7))
    np.save(tmp_path / "h.npy", values[None])
    np.savetxt(tmp_path / "h.csv", values, delimiter=",")
    pd.DataFrame(values).to_csv(tmp_path / "header.csv", index=False, header=list("abcdefg"))
    first = from_matrix(str(tmp_path / "h.npy"), limit=25)
    assert first.x.shape == (25, 7) and first.ordered
    for name in ("h.csv", "header.csv"):
        np.testing.assert_allclose(from_matrix(str(tmp_path / name), limit=25).x, first.x, atol=1e-6)
    for wrong, message in ((np.zeros((2, 30, 4)), "one sequence"), (np.full((30, 2), np.nan), "not finite")):
        np.save(tmp_path / "wrong.npy", wrong)
        with pytest.raises(UserError, match=message):
            from_matrix(str(tmp_path / "wrong.npy"), limit=25)
    (tmp_path / "junk.npy").write_text("not an array")
    with pytest.raises(UserError, match="not a readable matrix"):
        from_matrix(str(tmp_path / "junk.npy"), limit=25)


def test_impossible_patterns_are_results_too(tokens):
    chosen = candidates([{"pattern": "local", "window": 500}, {"pattern": "overlapping", "window": 7}], [])
    findings = diagnose(tokens, chosen, **SETTINGS)
    assert "does not fit 60 tokens" in findings[1].failure and "odd" in findings[2].failure


def test_names_tell_patterns_apart():
    chosen = [
        {"pattern": "longformer", "window": 64, "global_tokens": [0], "scaling": "sq_inplace"},
        {"pattern": "longformer", "window": 8, "global_tokens": [0, -1]},
    ]
    names = [candidate.name for candidate in candidates(chosen, ["folder/mine.py"])]
    assert names == [
        "global",
        "longformer, window 64, global token 0, query scaled in place",
        "longformer, window 8, global tokens 0 and -1",
        "mine.py",
    ]
    with pytest.raises(UserError, match="two patterns are called 'local, window 4'"):
        candidates([{"pattern": "local", "window": 4}] * 2, [])


def test_rows_of_a_table_are_shuffled_by_later_seeds_only(tokens):
    findings = diagnose(tokens, candidates([{"pattern": "local", "window": 10}], []), **(SETTINGS | {"seeds": [5, 6]}))
    np.testing.assert_array_equal(findings[1].first.history[0], tokens.x)
    assert findings[1].measures[5]["silhouette"] != findings[1].measures[6]["silhouette"]


def test_peak_memory_counts_tensors_alive_together():
    x = torch.ones(1000, 1000)
    one = 4_000_000
    assert one <= peak_memory(lambda: x + 1) < 1.5 * one
    assert 2 * one <= peak_memory(lambda: (x + 1) * (x + 2) * 1.0) < 4.5 * one
    assert 8_000_000 <= peak_memory(lambda: np.ones((1000, 1000))) < 9_000_000


def test_times_are_medians_after_a_warm_up(monkeypatch):
    clock = iter(np.cumsum([0, 9, 0, 1, 0, 1, 0, 50, 0, 1, 0, 1]))  # the first call is not timed
    waits: list[float] = []

    def call():
        waits.append(1)

    monkeypatch.setattr(profiling.time, "perf_counter", lambda: next(clock))
    assert profiling.seconds(call) == 1 and len(waits) == 6


def measured(values: dict[str, list[float]], silhouettes: dict[str, float] | None = None) -> pd.DataFrame:
    """Measures by pattern and seed: the adjusted Rand indices given, and what goes with them."""
    rows = []
    for name, rands in values.items():
        for seed, rand in enumerate(rands):
            other = {"silhouette": (silhouettes or {}).get(name, 0.9), "share reassigned": 1 - rand, "fragments": 3}
            rows += [(name, seed, measure, value) for measure, value in ({"rand index": rand} | other).items()]
    return pd.DataFrame(rows, columns=["pattern", "seed", "measure", "value"])


def judged(values: dict[str, list[float]], work: dict[str, float | None], **silhouettes: float) -> tuple[dict, str]:
    measures = measured(values, silhouettes)
    means, intervals = summary(measures, list(values))
    order = ranked(means, "global")
    found = places(measures, order)
    return found, recommendation(order, found, means, intervals, "global", work)


def test_ranking_goes_by_agreement_then_silhouette():
    values = {"global": [1.0], "x": [0.5], "y": [0.8], "z": [0.8]}
    means, intervals = summary(measured(values, {"y": 0.6, "z": 0.7}), list(values))
    assert ranked(means, "global") == ["z", "y", "x"]
    sentence = verdict("z", means, intervals, "global", 0.1)
    assert "mostly the clusters" in sentence and "less coherent" in sentence
    assert "10.0% of the multiply-adds" in sentence and "worth a try" in sentence
    assert "multiply-adds" not in verdict("z", means, intervals, "global", None)


def test_patterns_that_seeds_do_not_tell_apart_share_a_place():
    values = {
        "global": [1.0, 1.0, 1.0],
        "a": [0.95, 0.91, 0.93],
        "b": [0.90, 0.96, 0.92],
        "c": [0.52, 0.50, 0.51],
        "d": [0.505, 0.505, 0.505],
    }
    work = {"global": 1.0, "a": 0.5, "b": 0.1, "c": 0.01, "d": 0.01}
    found, advice = judged(values, work)
    assert found == {"a": "1–2", "b": "1–2", "c": "3–4", "d": "3–4"}
    assert advice.startswith("Try b first") and "10.0% of the multiply-adds" in advice and "apart from: a." in advice
    assert judged(values, work | {"b": None})[1].startswith("Try a first")
    assert judged(values, work | {"b": 0.48})[1].startswith("Try a first")  # hardly cheaper, and behind in agreement
    assert judged(values, dict.fromkeys(work))[1].startswith("Try a first")
    apart = {"global": [1.0] * 3, "a": [0.95, 0.85, 0.75], "b": [0.90, 0.80, 0.70]}  # intervals overlap, pairs do not
    assert judged(apart, work)[0] == {"a": "1", "b": "2"}
    assert judged({name: rands[:1] for name, rands in apart.items()}, work)[0] == {"a": "1–2", "b": "1–2"}


def test_nothing_is_recommended_where_there_is_nothing_to_keep():
    work = {"global": 1.0, "a": 0.5}
    _, none_close = judged({"global": [1.0] * 3, "a": [0.5, 0.6, 0.5]}, work)
    assert none_close.startswith("No recommendation") and "a comes closest" in none_close
    _, vague = judged({"global": [1.0] * 3, "a": [1.0] * 3}, work, **{"global": 0.1})
    assert "global attention itself forms no clear clusters" in vague
    assert "no pattern could be compared" in judged({"global": [1.0] * 3}, work)[1]


def test_the_page_stands_alone_leads_with_advice_and_names_what_broke():
    cost = {"seconds": 0.001, "bytes": 2048.0, "multiply_adds": 1e6}
    outcome = {
        "data": "my <table>",
        "tokens": 60,
        "patterns": [
            {"name": "global", "about": "all", "failure": "", "cost": cost},
            {"name": "mine", "about": "own", "failure": "", "cost": cost | {"multiply_adds": None}},
            {"name": "bad", "about": "own", "failure": "gave <NaN>", "cost": {}},
        ],
    }
    measures = measured({"global": [1.0, 1.0], "mine": [0.94, 0.96]})
    found = summary(measures, ["global", "mine"])
    html = compose(outcome, measures, found, {}, {"iterations": 3, "seeds": [0, 1]}, ["a stand-in"])
    assert "gave &lt;NaN&gt;" in html and "my &lt;table&gt;" in html and "strong candidate" in html
    assert "a stand-in" in html and "http" not in html and "<script" not in html
    assert html.index("Try mine first") < html.index("<h2>")
    assert "<td>0.950<small>± 0.127</small></td>" in html


def test_the_config_knows_every_pattern_and_parameter():
    schema = yaml.safe_load((SCHEMAS / "diagnose.schema.yaml").read_text(encoding="utf-8"))
    known = schema["properties"]["patterns"]["items"]["properties"]
    assert set(known["pattern"]["enum"]) == set(PATTERNS)
    options = {option for pattern in PATTERNS.values() for option in pattern.options()}
    assert set(known) - {"pattern", "name", "scaling"} == options
    assert known["scaling"]["enum"] == list(MODES)


def section(**data):
    keys = ("table", "label", "image", "mask", "matrix", "checkpoint", "text", "layer", "tokenizer")
    empty = dict.fromkeys(keys) | {"columns": []}
    return {"data": empty | data, "own": []}


def test_settings_that_do_not_go_together_are_refused(tmp_path):
    here = str(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a\n1\n")
    check_diagnosis(section(table=here))
    assert uses_example(section()) and not uses_example(section(table=here))
    assert named_files(section(table=here) | {"own": "mine.py"}) == [here, "mine.py"]
    for wrong, message in (
        (section(table=here, image=here), "keep one"),
        (section(mask=here), "goes with an image"),
        (section(label="y"), "goes with a table"),
        (section(text=here), "goes with a checkpoint"),
        (section(layer=0), "goes with a checkpoint"),
        (section(checkpoint="some/model"), "a checkpoint needs a text"),
        (section(checkpoint="some/model", matrix=here, text=here), "keep one"),
        (section(table=here, columns=["y"], label="y"), "cannot be a feature"),
        (section(table="absent.csv"), "no file 'absent.csv'"),
    ):
        with pytest.raises(UserError, match=message):
            check_diagnosis(wrong)
