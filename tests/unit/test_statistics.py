"""Intervals against scipy and by their coverage."""

import itertools

import numpy as np
import pytest
from scipy import stats

from clusterlens.metrics.numbers import from_text, number, share
from clusterlens.metrics.statistics import (
    mean_interval,
    paired_difference,
    permutation_test,
    share_interval,
    unpaired_difference,
)

RNG = np.random.default_rng(0)


def test_mean_interval_is_students():
    values = RNG.normal(3, 2, 7)
    found = mean_interval(values)
    expected = stats.t.interval(0.95, 6, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected)
    assert np.isnan(mean_interval(values[:1]).interval) and mean_interval(np.array([np.nan])).seeds == 0
    assert mean_interval(np.array([1.0, np.nan, 3.0])).seeds == 2


def test_paired_difference_uses_the_seeds_that_both_have():
    one, other = {0: 1.0, 1: 2.0, 2: 4.0, 9: 100.0}, {2: 3.0, 1: 1.5, 0: 0.0}
    found = paired_difference(one, other)
    expected = stats.ttest_rel([1.0, 2.0, 4.0], [0.0, 1.5, 3.0]).confidence_interval(0.95)
    assert (found.low, found.high, found.seeds) == pytest.approx((expected.low, expected.high, 3))


def test_unpaired_difference_is_welchs():
    one, other = RNG.normal(0, 1, 5), RNG.normal(1, 3, 8)
    found = unpaired_difference(one, other)
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_the_interval_covers_the_mean_in_95_of_100_draws(seeds):
    draws = RNG.normal(0, 1, (4000, seeds))
    covered = np.mean([found.low <= 0 <= found.high for found in map(mean_interval, draws)])
    assert covered == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(("hits", "seeds"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (19, 40)])
def test_shares_have_wilsons_interval(hits, seeds):
    expected = stats.binomtest(hits, seeds).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(share_interval(hits, seeds), (expected.low, expected.high), atol=1e-12)


def test_a_share_of_all_seeds_leaves_room_below():
    low, high = share_interval(10, 10)
    assert 0.69 < low < 0.73 and high == 1.0
    entry = share("t=12", "in one cluster", {3: True, 4: False})
    assert (entry["value"], entry["seeds"], entry["by_seed"]) == (0.5, 2, "3:1 4:0")


def test_permutation_test_counts_all_signs():
    d = np.array([0.4, -0.1, 0.3, 0.2])
    means = [abs(np.mean(np.array(signs) * d)) for signs in itertools.product((1, -1), repeat=4)]
    assert permutation_test(d) == np.mean(np.array(means) >= abs(d.mean()) - 1e-12)
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert permutation_test(d) == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [2, 5, 9])
def test_permutation_test_is_scipys_for_any_number_of_seeds(seeds):
    d = np.round(RNG.normal(0.3, 1, seeds), 1)  # rounded, so that sums tie
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert permutation_test(d) == pytest.approx(expected)


def test_permutation_test_stays_exact_where_signs_cannot_be_listed():
    assert permutation_test(np.full(30, 0.1)) == 2 / 2**30
    assert permutation_test(np.zeros(5)) == 1.0


def test_numbers_keep_their_seeds():
    entry = number("a", "x", {7: 1.5, 3: 2.5})
    assert from_text(entry["by_seed"]) == {7: 1.5, 3: 2.5} and entry["value"] == 2.0
    assert number("a", "x", 4)["by_seed"] == "" and number("a", "x", np.array([4.0]))["by_seed"] == "0:4"
