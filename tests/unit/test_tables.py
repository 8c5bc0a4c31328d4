"""Tables: both publications are read, samples have the size asked for, and every unusable table gets one line."""

import numpy as np
import pandas as pd
import pytest

from clusterlens.data.tables import bootstrap_sample, draw_sample, read_table, select
from clusterlens.errors import UserError

FEATURES = ["bmi", "hbA1c_level", "blood_glucose_level"]


def older(rows=6):
    """The columns of the older publication."""
    values = np.arange(rows)
    columns = {"gender": "Female", "age": 80.0, "bmi": 20.0 + values, "HbA1c_level": 5.0 + values}
    return pd.DataFrame(columns | {"blood_glucose_level": 100 + values, "diabetes": values % 2})


def newer(rows=6):
    """The columns of the publication that the paper used."""
    table = older(rows).rename(columns={"HbA1c_level": "hbA1c_level"})
    return table.assign(year=2020, location="Alabama", **{"race:Asian": 0})


def refused(call, *args, **options):
    with pytest.raises(UserError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("schema", [older, newer])
def test_both_schemas_of_the_diabetes_table(tmp_path, schema):
    schema().to_csv(tmp_path / "t.csv", index=False)
    selected = select(read_table(tmp_path / "t.csv"), FEATURES, "diabetes", "diabetes")
    assert list(selected) == [*FEATURES, "diabetes"]
    assert selected["hbA1c_level"].tolist() == [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    assert len(selected) == 6


def test_labels_become_zero_and_one():
    table = older().assign(diabetes=["yes", "no", "no", "yes", "no", "yes"])
    assert select(table, FEATURES, "diabetes", "t")["diabetes"].tolist() == [1, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("content", ["", "a,b\n"])
def test_empty_table(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    assert "the table is empty" in refused(read_table, tmp_path / "t.csv")


def test_ragged_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,2,3\n")
    assert "not a readable CSV file" in refused(read_table, tmp_path / "t.csv")


def test_missing_column_names_the_nearest():
    message = refused(
        select, older().rename(columns={"blood_glucose_level": "blood_glucose"}), FEATURES, "diabetes", "t"
    )
    assert message == "t: the table has no column 'blood_glucose_level': did you mean 'blood_glucose'?"


def test_missing_label():
    assert "no column 'outcome'" in refused(select, older(), FEATURES, "outcome", "t")


def test_label_with_one_class():
    message = refused(select, older().assign(diabetes=0), FEATURES, "diabetes", "t")
    assert message == "t: label 'diabetes' has 1 class (0); exactly two are needed"


def test_label_with_many_classes():
    assert "has 6 classes (0, 1, 2, 3, 4, ...)" in refused(
        select, older().assign(diabetes=range(6)), FEATURES, "diabetes", "t"
    )


def test_text_where_numbers_are_needed():
    assert "'bmi' is not numeric" in refused(select, older().assign(bmi="thin"), FEATURES, "diabetes", "t")


@pytest.mark.parametrize(("column", "value"), [("hbA1c_level", np.nan), ("hbA1c_level", np.inf), ("diabetes", np.nan)])
def test_missing_values(column, value):
    table = newer().astype({column: float})
    table.loc[2, column] = value
    message = refused(select, table, FEATURES, "diabetes", "t")
    assert "1 rows without a finite value" in message and f"'{column}'" in message


def test_sample_is_balanced_seeded_and_without_repeats():
    table = pd.DataFrame({"x": np.arange(1000.0), "label": (np.arange(1000) % 10 == 0).astype(int)})
    sample = draw_sample(table, "label", 40, seed=3)
    assert sample["label"].value_counts().to_dict() == {0: 40, 1: 40}
    assert sample["x"].is_unique
    assert sample.equals(draw_sample(table, "label", 40, seed=3))
    assert not sample.equals(draw_sample(table, "label", 40, seed=4))
    # Rows come in random order, so that windows of neighbours see both classes.
    assert 5 < sample["label"].iloc[:40].sum() < 35


def test_a_class_with_too_few_rows_gives_all_of_them():
    table = pd.DataFrame({"x": np.arange(1025.0), "label": (np.arange(1025) < 526).astype(int)})
    assert draw_sample(table, "label", 512, seed=0)["label"].value_counts().to_dict() == {1: 512, 0: 499}


def test_each_class_can_have_a_size_of_its_own():
    table = pd.DataFrame({"x": np.arange(1025.0), "label": (np.arange(1025) < 526).astype(int)})
    sample = draw_sample(table, "label", [499, 525], seed=0)
    assert len(sample) == 1024 and sample["label"].value_counts().to_dict() == {1: 525, 0: 499}


def test_draws_of_nearly_all_rows_are_nearly_the_same_and_bootstraps_are_not():
    """Why the heart table, which nearly fits into its sample, is resampled with replacement."""
    table = pd.DataFrame({"x": np.arange(1025.0), "label": (np.arange(1025) < 526).astype(int)})

    def shared(draw):
        one, other = (set(draw(table, "label", [499, 525], seed)["x"]) for seed in (1, 2))
        return len(one & other) / 1024

    assert shared(draw_sample) > 0.97 and shared(bootstrap_sample) < 0.5


def test_a_bootstrap_keeps_copies_together_and_class_sizes():
    """Distinct row i has i + 1 copies; each drawn row comes with all of them, but for the last of its class."""
    label = np.arange(8) % 2
    table = pd.DataFrame({"x": np.arange(8.0), "label": label}).loc[np.repeat(np.arange(8), np.arange(8) + 1)]
    table = table.sample(frac=1, random_state=0).reset_index(drop=True)
    for seed in range(20):
        sample = bootstrap_sample(table, "label", [15, 21], seed)
        assert sample["label"].value_counts().sort_index().tolist() == [15, 21]
        counts = sample.groupby("x").size()
        split = [x for x in counts.index if counts[x] % (x + 1)]
        assert len({int(x) % 2 for x in split}) == len(split) <= 2
    again = bootstrap_sample(table, "label", [15, 21], 3)
    assert again.equals(bootstrap_sample(table, "label", [15, 21], 3))
    assert not again.equals(bootstrap_sample(table, "label", [15, 21], 4))
