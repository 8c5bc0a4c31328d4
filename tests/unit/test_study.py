"""The clustering study from prepared data to files and tables, on clouds small enough to check."""

import json

import numpy as np
import pandas as pd
import pytest

from clusterlens.attention.cases import MODES, Case, cases, fitted_windows
from clusterlens.attention.clustering import Clustering, spectrum_rows
from clusterlens.attention.prepared import Table
from clusterlens.attention.study import classes_gathered, follow_all, measure, settle_all
from clusterlens.attention.tokens import Tokens
from clusterlens.metrics.agreement import dice
from clusterlens.metrics.standard import zscore
from clusterlens.metrics.summary import metrics_table, read_measures

SETTINGS = {"clusters": 2, "iterations": 6, "axis": "feature", "radius": 0.1, "seed": 0}


def two_groups(n=80, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 2)
    return Tokens(zscore(rng.normal(size=(n, 3)) + 4 * labels[:, None]), labels=labels, signs=np.ones(3))


@pytest.fixture(scope="module")
def found():
    return settle_all(two_groups(), cases([16, 40], list(MODES)), global_tokens=[0], **SETTINGS)


@pytest.fixture(scope="module")
def clustering(found):
    measured = {(name, 3): one.measures for name, one in found.items()}
    measured |= {(name, 4): one.measures | {"silhouette": 0.0} for name, one in found.items()}
    spectra = {(name, seed): spectrum_rows(one.history * seed) for name, one in found.items() for seed in (3, 4)}
    return Clustering.of(
        two_groups().x, found, measured, spectra, global_tokens=[0], features=["a", "b", "c"], image=None
    )


def test_windows_shrink_together_only_where_the_largest_does_not_fit():
    assert fitted_windows([128, 512], 1011) == {128: 128, 512: 512}
    assert fitted_windows([128, 512], 118) == {128: 14, 512: 60}
    assert all(used % 2 == 0 for used in fitted_windows([128, 512], 33).values())


def test_cases_name_patterns_by_the_nominal_window_and_are_read_back():
    chosen = cases([128, 512], list(MODES))
    names = [case.name for case in chosen]
    assert names[:4] == ["global", "local 128", "local 512", "longformer 512"]
    assert names[4:] == [f"longformer 512 {mode}" for mode in ("sq_exact", "sq_inplace", "sq_inplace_clone")]
    assert [Case.read(name) for name in names] == chosen
    assert len(cases([128, 512], ["sdp"])) == 4


def test_a_case_uses_the_window_that_fits():
    fitted, tokens = {128: 14, 512: 60}, [0, -1]
    assert Case("global").parameters(fitted, tokens) == {}
    assert Case("local", 128).parameters(fitted, tokens) == {"window": 14}
    asked = Case("longformer", 512, "sq_exact").parameters(fitted, tokens)
    assert asked == {"window": 60, "global_tokens": tokens, "mode": "sq_exact"}


def test_zscore_leaves_a_constant_feature_at_zero():
    x = zscore(np.array([[1.0, 5.0], [3.0, 5.0]]))
    np.testing.assert_allclose(x, [[-1, 0], [1, 0]])


def test_a_table_gives_its_sample_first_and_others_of_its_size_after_it(tmp_path):
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2
    rows = pd.DataFrame({"up": rng.normal(size=60) + 3 * label, "down": rng.normal(size=60) - 3 * label, "y": label})
    rows.to_csv(tmp_path / "table.csv", index=False)
    rows.head(20).to_csv(tmp_path / "sample.csv", index=False)
    (tmp_path / "manifest.json").write_text(json.dumps({"features": ["up", "down"], "label": "y"}))
    table = Table.load(*(str(tmp_path / name) for name in ("table.csv", "sample.csv", "manifest.json")))
    drawn = dict(table.samples(3, resample="draw", seed=7))
    assert list(drawn) == [7, 8, 9]
    np.testing.assert_allclose(drawn[7].x, zscore(rows[["up", "down"]].to_numpy()[:20]), atol=1e-12)
    assert all(tokens.labels.sum() == 10 and tokens.signs.tolist() == [1, -1] for tokens in drawn.values())
    assert not np.array_equal(drawn[8].x, drawn[9].x)
    repeated = dict(table.samples(2, resample="bootstrap", seed=7))[8].x
    assert repeated.shape == drawn[8].x.shape and len(np.unique(repeated, axis=0)) < 20


def test_separated_groups_become_clusters_that_predict_them(found):
    values = found["global"].measures
    assert values["silhouette"] > 0.9 and values["accuracy"] > 0.95
    assert values["coverage"] == 1 and values["rand index"] == 1 and values["share reassigned"] == 0
    assert found["local 16"].measures["window"] == 16 and "window" not in values


def test_exact_query_scaling_equals_dot_product_scaling_and_in_place_does_not(found):
    differences = {name: one.measures.get("largest difference from sdp") for name, one in found.items()}
    assert differences["longformer 40"] is None and differences["longformer 40 sq_exact"] < 1e-9
    moved = np.abs(found["longformer 40 sq_inplace"].history[-1] - found["longformer 40"].history[-1]).max()
    assert differences["longformer 40 sq_inplace"] == moved > 0.5


def test_a_mask_is_measured_by_dice():
    truth = np.zeros((6, 8), dtype=bool)
    truth[2:4, 2:6] = True
    x = np.where(truth.ravel()[:, None], 1.0, -1.0) * np.ones(3)
    labels = truth.ravel().astype(int)
    values = measure(np.stack([x, x]), labels, labels, Tokens(x, mask=truth), radius=0.1)
    assert values["dice"] == dice(truth, truth) == 1 and "accuracy" not in values


def test_a_clustering_survives_its_files(tmp_path, found, clustering):
    files = [str(tmp_path / name) for name in ("tokens.npz", "measures.csv", "spectra.csv")]
    clustering.save(*files)
    loaded = Clustering.load(*files, "manifest.json")
    np.testing.assert_array_equal(loaded.start, clustering.start)
    for ours, theirs in ((loaded.final, clustering.final), (loaded.labels, clustering.labels)):
        assert list(ours) == list(theirs) == list(found)
        assert all(np.array_equal(ours[name], theirs[name]) for name in found)
    assert {name: array.tolist() for name, array in loaded.known.items()} == {
        "global_tokens": [0],
        "features": ["a", "b", "c"],
    }
    pd.testing.assert_frame_equal(loaded.measures, clustering.measures)
    pd.testing.assert_frame_equal(loaded.spectra, clustering.spectra)


def test_figures_show_the_first_sample(found, clustering):
    case = Case("local", 16)
    assert clustering.shown(case) == found["local 16"].measures
    assert [case.window for case in clustering.cases("local")] == [16, 40]
    numbers = {(one["row"], one["column"]): one for one in clustering.numbers("Data B", [case])}
    assert numbers["Data B local 16", "silhouette"]["value"] == found["local 16"].measures["silhouette"]
    assert numbers["Data B local 16", "fragments"]["seeds"] == 1 and ("Data B local 16", "dice") not in numbers


def test_spectra_hold_every_state_with_both_covariances(found, clustering):
    table = clustering.spectrum(Case("global"))
    assert len(table) == 2 * 2 * 7 * 3 and table["iteration"].max() == 6
    largest = table[(table["covariance"] == "centred") & (table["rank"] == 1)].set_index(["seed", "iteration"])
    expected = np.linalg.eigvalsh(np.cov(found["global"].history[-1].T)).max()
    assert largest["eigenvalue"][3, 6] == pytest.approx(9 * expected)
    assert largest["eigenvalue"][4, 6] == pytest.approx(16 * expected)


def test_states_that_are_only_followed_are_those_that_are_measured(found):
    chosen = [Case("longformer", 40, mode) for mode in MODES]
    states = follow_all(two_groups(), chosen, global_tokens=[0], iterations=6, axis="feature")
    for case in chosen:
        np.testing.assert_array_equal(states[case.name], found[case.name].history)
    assert follow_all(two_groups(), [], global_tokens=[0], iterations=6, axis="feature") == {}


def test_classes_that_gather_are_told_from_classes_that_do_not():
    rng = np.random.default_rng(0)
    truth, noise = np.arange(60) % 2, rng.normal(size=(60, 3))
    apart = noise + 100 * truth[:, None]
    gathered = classes_gathered(np.stack([noise, apart]), truth, truth, seed=0)
    assert gathered["within-class variance"] < 0.01 and gathered["fall of within-class variance"] > 0.8
    assert gathered["same-class pairs above chance"] == pytest.approx(1 - 2 * 30 * 29 / (60 * 59))
    unrelated = classes_gathered(np.stack([apart, noise]), np.arange(60) // 2 % 2, truth, seed=0)
    assert unrelated["fall of within-class variance"] < -0.8 and unrelated["same-class pairs above start"] < -0.4
    assert abs(unrelated["same-class pairs above chance"]) < 0.02


def test_metrics_table_is_mean_and_interval_over_samples(tmp_path, clustering):
    path = tmp_path / "measures.csv"
    clustering.measures.to_csv(path, index=False)
    table = metrics_table(read_measures({"Data B": str(path)})).set_index("row")
    once = clustering.shown(Case("global"))["silhouette"]
    assert table.loc["Data B global", "silhouette"] == pytest.approx(once / 2, abs=1e-4)
    assert table.loc["Data B global", "silhouette ±95%"] == pytest.approx(12.7062 * once / 2, abs=1e-4)
    assert table.loc["Data B global", "samples"] == 2 and "tokens ±95%" not in table
