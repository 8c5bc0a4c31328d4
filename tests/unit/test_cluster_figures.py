"""Figures of the clustering study: what they are drawn from and that every part is there."""

import numpy as np
import pandas as pd
import pytest

from clusterlens.figures.clouds import attention_cloud, clouds
from clusterlens.figures.cluster_points import cloud, positions, score_line, shown_measures
from clusterlens.figures.correlations import correlation_maps, correlation_table
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.masks import grid, picture_and_masks, pixel_table
from clusterlens.figures.scaling_modes import MODE_TITLES, case_of, gap_numbers


def stored(n=12):
    tokens = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    return {"tokens global": tokens, "labels global": np.arange(n) % 3}


def test_points_keep_three_features_and_project_more():
    points = cloud(stored(), "global", "Data A")
    assert list(points.columns) == ["panel", "token", "x", "y", "z", "cluster"]
    wide = np.random.default_rng(0).normal(size=(40, 6)) * [9, 5, 2, 0.1, 0.1, 0.1]
    projected = positions(wide, "p")[["x", "y", "z"]].to_numpy()
    assert (np.diff(projected.var(axis=0)) < 0).all() and projected.var() > 0.95 * wide[:, :3].var()
    assert (positions(wide[:, :2], "p")["z"] == 0).all()


def test_one_panel_per_title_and_spare_ones_left_out():
    points = pd.concat([cloud(stored(), "global", name) for name in "abc"])
    figure = clouds(points, {"a": "A", "b": "B", "c": "C"}, columns=2)
    assert [axis.get_title() for axis in figure.axes] == ["A", "B", "C"]


def test_links_are_as_wide_as_they_are_strong():
    points = cloud(stored(), "global", "Data B").assign(star=0)
    links = pd.DataFrame({"token": [0, 1], "attends to": [2, 2], "strength": [1.0, 0.25]})
    figure = attention_cloud(points, links, "t", ("a", "b", "c"))
    [lines] = [c for c in figure.axes[0].collections if type(c).__name__ == "Line3DCollection"]
    widths = lines.get_linewidths()
    assert widths[0] == pytest.approx(4 * widths[1])


def test_pixels_survive_the_table():
    image = np.random.default_rng(0).integers(0, 255, (4, 6, 3)).astype(np.uint8)
    mask = image[..., 0] > 100
    pixels = pixel_table(image, {"mask": mask})
    np.testing.assert_array_equal(grid(pixels, ["red", "green", "blue"]), image)
    np.testing.assert_array_equal(grid(pixels, "mask"), mask)
    assert len(picture_and_masks(pixels, {"mask": "ground truth"}).axes) == 2


def test_spectra_are_drawn_on_a_log_axis_with_both_covariances():
    rows = [("p", t, kind, rank, 10.0**-rank) for t in range(3) for kind in ("centred", "uncentred") for rank in (1, 2)]
    spectra = pd.DataFrame(rows, columns=["panel", "iteration", "covariance", "rank", "eigenvalue"])
    figure = eigenvalue_panels(spectra, {"p": "P"}, columns=1, along="iteration")
    assert figure.axes[0].get_yscale() == "log" and len(figure.axes[0].lines) == 5


def test_gaps_are_ratios_of_centred_eigenvalues():
    rows = [
        (case_of(mode, 512), 5, kind, rank, value)
        for mode in MODE_TITLES
        for kind, factor in (("centred", 1), ("uncentred", 7))
        for rank, value in ((1, 8.0 * factor), (2, 4.0), (3, 1.0))
    ]
    spectra = pd.DataFrame(rows, columns=["case", "iteration", "covariance", "rank", "eigenvalue"])
    numbers = {(row, column): value for row, column, value, *_ in gap_numbers(spectra, "Data C", 512, [5])}
    assert numbers["Data C sq_inplace t=5", "lambda1/lambda3"] == 8
    assert numbers["Data C sdp t=5", "lambda1/lambda2"] == 2 and len(numbers) == 8


def test_correlations_are_pearsons():
    table = pd.DataFrame({"a": [1.0, 2, 3, 4], "y": [0, 0, 1, 1]})
    correlations = correlation_table({"Data B": table})
    value = correlations.set_index(["row", "column"]).loc[("a", "y"), "correlation"]
    assert value == pytest.approx(np.corrcoef(table["a"], table["y"])[0, 1])
    assert len(correlation_maps(correlations).axes) == 2


def test_measures_shown_are_those_of_the_first_sample(tmp_path):
    rows = [("global", 3, "silhouette", 0.9), ("global", 4, "silhouette", 0.1)]
    pd.DataFrame(rows, columns=["case", "sample", "measure", "value"]).to_csv(tmp_path / "m.csv", index=False)
    assert shown_measures(str(tmp_path / "m.csv")) == {"global": {"silhouette": 0.9}}
    assert score_line({"silhouette": 0.891, "accuracy": 0.873, "coverage": 0.56}) == (
        "silhouette 0.89, accuracy 87% (56% of tokens)"
    )
