"""The clustering study from tokens to tables, on clouds small enough to check."""

import numpy as np
import pandas as pd
import pytest
import torch

from clusterlens.attention import records
from clusterlens.attention.study import Truth, cases, cluster_all, fitted_windows, measure, spectra
from clusterlens.metrics.agreement import dice
from clusterlens.metrics.standard import zscore
from clusterlens.metrics.summary import metrics_table

SETTINGS = {"iterations": 6, "over": "feature", "device": torch.device("cpu"), "radius": 0.1, "seed": 0}


def two_groups(n=80, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 2)
    return zscore(rng.normal(size=(n, 3)) + 4 * labels[:, None]), labels


@pytest.fixture(scope="module")
def found():
    x, labels = two_groups()
    truth = Truth(labels=labels, signs=np.ones(3))
    return cluster_all(x, 2, cases([16, 40], 80, [0], modes=True), truth, **SETTINGS)


def test_windows_shrink_together_only_where_the_largest_does_not_fit():
    assert fitted_windows([128, 512], 1011) == {128: 128, 512: 512}
    assert fitted_windows([128, 512], 118) == {128: 14, 512: 60}
    assert all(used % 2 == 0 for used in fitted_windows([128, 512], 33).values())


def test_cases_name_patterns_by_the_nominal_window():
    names = [case.name for case in cases([128, 512], 100, [0], modes=True)]
    assert names[:4] == ["global", "local 128", "local 512", "longformer 512"]
    assert names[4:] == [f"longformer 512 {mode}" for mode in ("sq_exact", "sq_inplace", "sq_inplace_clone")]
    assert len(cases([128, 512], 100, [0], modes=False)) == 4


def test_zscore_leaves_a_constant_feature_at_zero():
    x = zscore(np.array([[1.0, 5.0], [3.0, 5.0]]))
    np.testing.assert_allclose(x, [[-1, 0], [1, 0]])


def test_separated_groups_become_clusters_that_predict_them(found):
    values = found["global"]["measures"]
    assert values["silhouette"] > 0.9 and values["accuracy"] > 0.95
    assert values["coverage"] == 1 and values["rand index"] == 1 and values["share away"] == 0
    assert found["local 16"]["measures"]["window"] == 16 and "window" not in values


def test_exact_query_scaling_equals_dot_product_scaling_and_in_place_does_not(found):
    differences = records.differences(found, "longformer 40")
    assert differences["longformer 40"] == 0
    assert differences["longformer 40 sq_exact"] < 1e-9
    assert differences["longformer 40 sq_inplace"] > 0.5


def test_a_mask_is_measured_by_dice():
    truth = np.zeros((6, 8), dtype=bool)
    truth[2:4, 2:6] = True
    x = np.where(truth.ravel()[:, None], 1.0, -1.0) * np.ones(3)
    history = np.stack([x, x])
    labels = truth.ravel().astype(int)
    values = measure(history, labels, labels, Truth(mask=truth), radius=0.1)
    assert values["dice"] == dice(truth, truth) == 1 and "accuracy" not in values


def test_records_hold_every_case(found):
    stored = records.arrays(found)
    assert stored["tokens global"].shape == (80, 3) and stored["labels local 16"].shape == (80,)
    table = records.spectrum_table(found)
    assert set(table["covariance"]) == {"centred", "uncentred"} and table["iteration"].max() == 6
    assert len(spectra(found["global"]["history"])) == 2 * 7 * 3
    links, lead, share = records.link_table(found["global"], least=1e-4, most=50)
    assert len(links) == 50 and lead.any() and 0 < share <= 1


def test_metrics_table_is_mean_and_deviation_over_samples(tmp_path, found):
    tables = [records.measures(found, 0), records.measures(found, 1)]
    tables[1].loc[tables[1]["measure"] == "silhouette", "value"] += 0.02
    path = tmp_path / "measures.csv"
    pd.concat(tables).to_csv(path, index=False)
    table = metrics_table({"Data B": str(path)}).set_index("row")
    expected = found["global"]["measures"]["silhouette"] + 0.01
    assert table.loc["Data B global", "silhouette"] == pytest.approx(expected, abs=1e-4)
    assert table.loc["Data B global", "silhouette ±"] == pytest.approx(0.02 / 2**0.5, abs=1e-4)
    assert table.loc["Data B global", "samples"] == 2
