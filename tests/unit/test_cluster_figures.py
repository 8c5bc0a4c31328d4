"""Figures of the clustering study: what they are drawn from, and that each of them shows and numbers what it should."""

import json
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from clusterlens.attention.cases import MODES, cases
from clusterlens.attention.clustering import Clustering, Settled, spectrum_rows
from clusterlens.clustered.fig16 import correlation_table
from clusterlens.clustered.register import READS
from clusterlens.figures.clouds import attention_cloud, clouds
from clusterlens.figures.cluster_points import aligned, cloud, positions, score_line
from clusterlens.figures.correlations import correlation_maps
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.figures.masks import EXTRA, MISSED, grid, picture_and_masks, pixel_table
from clusterlens.items import read_items
from clusterlens.metrics.numbers import from_text, tidy
from clusterlens.verify.labels import unlisted

SHAPE = (6, 8)
FEATURES = ["age", "max_rate", "pain"]


def clustering(modes=("sdp",), **known):
    rng = np.random.default_rng(0)
    n = SHAPE[0] * SHAPE[1]
    settled, measured = {}, {}
    for number, case in enumerate(cases([4, 16], list(modes))):
        labelled = {"accuracy": 0.8, "coverage": 0.6, "accuracy all clusters": 0.7}
        measures = {"silhouette": 0.5 + number / 100, "clusters": 3, "fragments": 4}
        measures |= {"dice": 0.9} if "mask" in known else labelled
        measures |= {"window": case.window} if case.window else {}
        measures |= {"largest difference from sdp": 0.25} if case.mode != "sdp" else {}
        settled[case.name] = Settled(rng.normal(size=(3, n, 3)), np.arange(n) % 3, measures)
        measured[case.name, 0] = measures
    spectra = {(name, seed): spectrum_rows(one.history + seed) for name, one in settled.items() for seed in (0, 1)}
    return Clustering.of(rng.normal(size=(n, 3)), settled, measured, spectra, global_tokens=[0, n - 1], **known)


PRINTED = [(f"Data {data} global", "silhouette", 0.5) for data in "BC"] + [("Data C global", "accuracy", 0.8)]


def choices():
    """All combinations of two samples, three iterations and two numbers of clusters; iterations decide nearly all."""
    grid = pd.MultiIndex.from_product(
        [[3, 4], ["feature"], [5, 10, 20], [0], [2, 3]],
        names=["sample", "standardise", "iterations", "order", "clusters"],
    ).to_frame(index=False)
    silhouette = 0.3 + 0.02 * grid["iterations"] + 0.001 * grid["clusters"]
    accuracy = np.where((grid["sample"] == 3) & (grid["clusters"] == 2), 0.8, 0.6)
    return grid.assign(silhouette=silhouette, accuracy=accuracy, coverage=1.0).assign(
        **{"accuracy all clusters": 0.7 + 0.01 * grid["clusters"]}
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of the study's data sets, under the paths that the register names."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (*SHAPE, 3)).astype(np.uint8)
    places = {
        path: str(folder / path.replace("<", "").replace(">", "").replace("/", "_"))
        for reads in READS.values()
        for paths in reads.values()
        for path in paths
    }
    np.savez(places["<resources>/picture/picture.npz"], image=image, mask=image[..., 0] > 100)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=FEATURES).assign(disease=np.arange(40) % 2)
    for name in ("picture", "diabetes", "heart"):
        found = clustering(image=image, mask=image[..., 0] > 100) if name == "picture" else None
        found = found or clustering(MODES, features=FEATURES)
        stem = f"<results>/attention_clusters/data/{name}"
        found.save(places[f"{stem}.npz"], places[f"{stem}.measures.csv"], places[f"{stem}.spectra.csv"])
    pd.DataFrame(PRINTED, columns=["row", "column", "value"]).to_csv(
        places["published/attention_clusters/metrics.csv"], index=False
    )
    for name in ("diabetes", "heart"):
        choices().to_csv(places[f"<results>/attention_clusters/data/{name}.choices.csv"], index=False)
        table.to_csv(places[f"<resources>/{name}/table.csv"], index=False)
        table.head(20).to_csv(places[f"<resources>/{name}/sample.csv"], index=False)
        with open(places[f"<resources>/{name}/manifest.json"], "w") as stream:
            json.dump({"features": FEATURES, "label": "disease"}, stream)
    return places


def test_every_figure_of_the_study_is_registered():
    figures = [item.name for item in read_items() if item.study == "attention" and item.kind == "figure"]
    assert sorted(READS) == sorted(figures)


PANELS = {"fig1": 2, "fig2": 3, "fig3": 4, "fig4": 1, "fig5": 1, "fig6": 6, "fig7": 4, "fig8": 8, "fig9": 8}
PANELS |= {"fig10": 3, "fig16": 3, "sensitivity": 8}  # of Fig. 16 two maps and their colour bar


@pytest.mark.parametrize("item", READS)
def test_every_figure_has_its_panels_points_and_listed_numbers(files, item):
    settings = {"links": 5, "link_threshold": 1e-4} if item in ("fig4", "fig5") else {}
    given = {name: [files[path] for path in paths] for name, paths in READS[item].items()}
    figure, points, numbers = import_module(f"clusterlens.clustered.{item}").show(given, **settings)
    assert len(figure.axes) == PANELS.get(item, len(figure.axes)) and len(points)
    plt.close(figure)
    table = tidy(numbers)
    assert table["value"].notna().all() and not table.duplicated(["row", "column"]).any()
    assert len(table) and unlisted("attention_clusters", item, table) == []


def test_clusters_keep_their_names_across_columns():
    reference = np.array([0, 0, 0, 1, 1, 2, 2, -1])
    assert list(aligned(np.array([2, 2, 2, 0, 0, 1, 1, -1]), reference)) == list(reference)
    assert list(aligned(np.array([5, 5, 5, 5, 5, 5, 5, 5]), reference)) == [0] * 8
    assert list(aligned(np.array([1, 1, 0, 3, 3, 2, 2, 2]), reference)) == [0, 0, 3, 1, 1, 2, 2, 2]


def test_differences_and_gaps_are_those_of_the_files(files):
    given = {name: [files[path] for path in paths] for name, paths in READS["fig8"].items()}
    _, _, numbers = import_module("clusterlens.clustered.fig8").show(given)
    values = {(one["row"], one["column"]): one["value"] for one in numbers}
    assert values["Data B sdp", "largest difference from sdp"] == 0
    assert values["Data C sq_exact", "largest difference from sdp"] == 0.25
    spectra = pd.read_csv(given["heart"][2]).query("covariance == 'centred' and pattern == 'longformer 16 sq_inplace'")
    last = spectra[spectra["iteration"] == 2].pivot(index="seed", columns="rank", values="eigenvalue")
    expected = np.log10(last[1] / last[3])
    [ours] = [
        one for one in numbers if (one["row"], one["column"]) == ("Data C sq_inplace t=2", "log10 lambda1/lambda3")
    ]
    assert ours["value"] == pytest.approx(expected.mean()) and ours["seeds"] == 2
    assert from_text(ours["by_seed"]) == pytest.approx(expected.to_dict(), rel=1e-5)
    assert values["Data C sq_inplace over sdp t=2", "log10 lambda1/lambda3"] == pytest.approx(
        ours["value"] - values["Data C sdp t=2", "log10 lambda1/lambda3"]
    )


def test_sensitivity_counts_settings_that_meet_the_printed_numbers_and_finds_what_matters(files):
    given = {name: [files[path] for path in paths] for name, paths in READS["sensitivity"].items()}
    _, _, numbers = import_module("clusterlens.clustered.sensitivity").show(given)
    values = {(one["row"], one["column"]): one["value"] for one in numbers}
    # .3 + .02 x 10 + .001 k is within .01 of .5, and accuracy .8 is that of one sample with two clusters
    assert values["Data C silhouette", "share met"] == pytest.approx(1 / 3)
    assert values["Data C silhouette", "share below"] == pytest.approx(1 / 3)
    assert values["Data C accuracy", "share met"] == pytest.approx(1 / 4)
    assert values["Data C both", "share met"] == pytest.approx(1 / 12)
    assert ("Data B accuracy", "share met") not in values
    assert values["Data C silhouette by iterations", "share of variance"] > 0.99
    assert values["Data C silhouette by iterations", "range of means"] == pytest.approx(0.3)
    assert values["Data C silhouette by sample", "share of variance"] == pytest.approx(0)
    assert values["Data C coverage by clusters", "share of variance"] == 0


def test_points_keep_three_features_and_project_more():
    points = cloud(clustering(), "global", "Data A")
    assert list(points.columns) == ["panel", "token", "x", "y", "z", "cluster"]
    wide = np.random.default_rng(0).normal(size=(40, 6)) * [9, 5, 2, 0.1, 0.1, 0.1]
    projected = positions(wide, "p")[["x", "y", "z"]].to_numpy()
    assert (np.diff(projected.var(axis=0)) < 0).all() and projected.var() > 0.95 * wide[:, :3].var()
    assert (positions(wide[:, :2], "p")["z"] == 0).all()


def test_one_panel_per_title_and_spare_ones_left_out():
    points = pd.concat([cloud(clustering(), "global", name) for name in "abc"])
    figure = clouds(points, {"a": "A", "b": "B", "c": "C"}, columns=2)
    assert [axis.get_title() for axis in figure.axes] == ["A", "B", "C"]


def test_links_are_as_wide_as_they_are_strong():
    points = cloud(clustering(), "global", "Data B").assign(star=0)
    links = pd.DataFrame({"token": [0, 1], "attends to": [2, 2], "strength": [1.0, 0.25]})
    figure = attention_cloud(points, links, "t", ("a", "max_rate", "c"))
    [lines] = [c for c in figure.axes[0].collections if type(c).__name__ == "Line3DCollection"]
    widths = lines.get_linewidths()
    assert widths[0] == pytest.approx(4 * widths[1]) and figure.axes[0].get_ylabel() == "max rate"


def test_pixels_survive_the_table():
    image = np.random.default_rng(0).integers(0, 255, (4, 6, 3)).astype(np.uint8)
    mask = image[..., 0] > 100
    pixels = pixel_table(image, {"mask": mask})
    np.testing.assert_array_equal(grid(pixels, ["red", "green", "blue"]), image)
    np.testing.assert_array_equal(grid(pixels, "mask"), mask)
    assert len(picture_and_masks(pixels, {"mask": "ground truth"}).axes) == 2


def test_wrong_pixels_are_marked_by_the_kind_of_error():
    truth, found = np.array([[1, 1], [0, 0]], bool), np.array([[1, 0], [1, 0]], bool)
    pixels = pixel_table(np.zeros((2, 2, 3), np.uint8), {"truth": truth, "ours": found})
    figure = picture_and_masks(pixels, {"truth": "ground truth", "ours": "from clusters"})
    real, ours = (axis.images[0].get_array() for axis in figure.axes[1:])
    assert [to_hex(colour) for colour in ours.reshape(-1, 3)] == ["#ffffff", MISSED, EXTRA, "#000000"]
    np.testing.assert_array_equal(real[..., 0], truth)
    assert len(figure.legends) == 1


@pytest.mark.parametrize(("factor", "lines"), [(1.01, 2), (3.0, 5)])
def test_uncentred_spectra_are_drawn_and_named_where_they_can_be_seen(factor, lines):
    kinds = {"centred": 1.0, "uncentred": factor}
    rows = [("p", t, kind, rank, by * 10.0**-rank) for t in range(3) for kind, by in kinds.items() for rank in (1, 2)]
    spectra = pd.DataFrame(rows, columns=["panel", "iteration", "covariance", "rank", "eigenvalue"])
    [axis] = eigenvalue_panels(spectra, {"p": "P"}, columns=1, along="iteration").axes
    assert axis.get_yscale() == "log" and len(axis.lines) == lines
    assert ("uncentred" in [text.get_text() for text in axis.get_legend().get_texts()]) == (lines == 5)


def test_correlations_are_pearsons():
    table = pd.DataFrame({"a": [1.0, 2, 3, 4], "y": [0, 0, 1, 1]})
    correlations = correlation_table(table, "Data B")
    value = correlations.set_index(["row", "column"]).loc[("a", "y"), "correlation"]
    assert value == pytest.approx(np.corrcoef(table["a"], table["y"])[0, 1])
    assert len(correlation_maps(correlations).axes) == 2


def test_scores_are_told_in_short():
    found = {"silhouette": 0.891, "accuracy": 0.873, "coverage": 0.56}
    assert score_line(found) == "silhouette 0.89, accuracy 87% (56% of tokens)"
    assert score_line({"silhouette": 0.5, "dice": 0.9571}) == "silhouette 0.50, dice 0.957"
