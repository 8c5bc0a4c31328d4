"""The sensitivity grid: every combination is there, and each is what the study itself would have measured."""

import numpy as np
import pytest

from clusterlens.attention.cases import CHOICES, Case
from clusterlens.attention.sensitivity import vary
from clusterlens.attention.study import settle_all
from clusterlens.attention.tokens import Tokens
from clusterlens.metrics.standard import zscore

GRID = {"standardise": ["feature", "scalar"], "iterations": [2, 5], "orders": 2, "clusters": [2, 3]}


def cloud(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(60) % 2)
    return Tokens(zscore(rng.normal(size=(60, 3)) + 2 * labels[:, None]), labels=labels, signs=np.ones(3))


@pytest.fixture(scope="module")
def choices():
    return vary([(seed, cloud(seed)) for seed in (4, 5)], **GRID)


def test_every_combination_is_there_once(choices):
    assert len(choices) == 2**5 and not choices.duplicated(list(CHOICES)).any()
    assert all(choices[choice].nunique() == 2 for choice in CHOICES)


def test_a_setting_is_what_the_study_measures(choices):
    for _, line in choices[choices["order"] == 0].iterrows():
        settings = {"clusters": line["clusters"], "iterations": line["iterations"], "axis": line["standardise"]}
        tokens = cloud(line["sample"])
        found = settle_all(tokens, [Case("global")], global_tokens=[], radius=0.1, seed=0, **settings)
        for outcome in ("silhouette", "accuracy", "coverage", "accuracy all clusters"):
            assert line[outcome] == pytest.approx(found["global"].measures[outcome], abs=1e-12)


def test_order_of_rows_matters_only_through_the_start_of_kmeans(choices):
    """Separated groups have one best clustering, which K-means finds in any order."""
    two = choices[(choices["clusters"] == 2) & (choices["iterations"] == 5)]
    by_order = [part.sort_values(list(CHOICES))["silhouette"].to_numpy() for _, part in two.groupby("order")]
    np.testing.assert_allclose(*by_order, atol=1e-9)
