"""What is drawn over seeds is what the numbers say: their mean, their interval, and every one of them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from clusterlens.figures.seeds import THIN, interval, over_time, points, seed_lines, share_line, shares, swarms
from clusterlens.metrics.statistics import mean_interval, share_interval

TIMES = np.arange(5.0)


def drawn(values, **options):
    axis = plt.figure().add_subplot()
    seed_lines(axis, over_time(TIMES, values), "time", "value", colour="black", **options)
    return axis


def test_each_seed_is_a_line_in_front_of_which_is_their_mean():
    values = np.random.default_rng(0).normal(size=(5, 4))
    axis = drawn(values)
    *seeds, middle = axis.lines
    np.testing.assert_allclose([line.get_ydata() for line in seeds], values.T)
    np.testing.assert_allclose(middle.get_ydata(), values.mean(1))
    [band] = axis.collections
    found = mean_interval(values[2])
    heights = band.get_paths()[0].vertices
    at = heights[heights[:, 0] == 2.0, 1]
    assert at.min() == pytest.approx(found.low) and at.max() == pytest.approx(found.high)


def test_on_a_log_axis_the_mean_is_geometric():
    values = np.array([[1.0, 10.0, 100.0]] * 5)
    axis = drawn(values, on_log=True)
    np.testing.assert_allclose(axis.lines[-1].get_ydata(), 10.0)
    assert axis.get_yscale() == "log"


def test_an_interval_needs_three_seeds_and_stays_within_its_bounds():
    assert np.isnan(interval([0.1, 0.9])).all()
    assert interval([0.1, 0.9, 1.0], bounds=(0, 1)) == (0.0, 1.0)


def test_groups_show_every_seed_and_no_line_between_them():
    groups = [np.array([0.0, 1.0, 5.0]), np.array([2.0, np.nan, 4.0])]
    for draw, middles in ((swarms, [1.0, 3.0]), (points, [2.0, 3.0])):
        axis = plt.figure().add_subplot()
        draw(axis, groups, ["a", "b"], colour="black")
        axis.figure.canvas.draw()
        assert sum(len(part.get_offsets()) for part in axis.collections) == 5
        marks = next(line for line in axis.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o")
        np.testing.assert_allclose(marks.get_ydata(), middles)
        assert marks.get_linestyle() == "None"


def test_shares_have_wilsons_interval_over_time_and_by_group():
    happened = np.array([[False] * 8, [True] * 2 + [False] * 6, [True] * 8])
    axis = plt.figure().add_subplot()
    share_line(axis, np.arange(3.0), happened, colour="black")
    [line], [band] = axis.lines, axis.collections
    np.testing.assert_allclose(line.get_ydata(), [0, 0.25, 1])
    heights = band.get_paths()[0].vertices
    at = heights[heights[:, 0] == 1.0, 1]
    np.testing.assert_allclose([at.min(), at.max()], share_interval(2, 8))
    axis = plt.figure().add_subplot()
    shares(axis, list(happened), ["none", "two", "all"], colour="black")
    bars = [line.get_ydata() for line in axis.lines if line.get_marker() != "o"]
    np.testing.assert_allclose(
        [(np.nanmin(bar), np.nanmax(bar)) for bar in bars], [share_interval(hits, 8) for hits in (0, 2, 8)]
    )


def test_of_many_seeds_some_are_drawn_and_all_are_averaged():
    values = np.random.default_rng(0).normal(size=(5, 3 * THIN))
    *seeds, middle = drawn(values).lines
    assert len(seeds) == THIN
    np.testing.assert_allclose(middle.get_ydata(), values.mean(1))


def test_long_runs_are_thinned_and_keep_their_ends():
    table = over_time(np.arange(1000.0), np.zeros((1000, 2)))
    assert isinstance(table, pd.DataFrame) and table["time"].nunique() < 100
    assert table["time"].min() == 0 and table["time"].max() == 999
    plt.close("all")
