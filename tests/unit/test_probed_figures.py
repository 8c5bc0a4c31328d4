"""Figures on pretrained models: texts as thin lines, heads in the order of their tree, text that can be read."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from clusterlens.figures import style
from clusterlens.figures.head_maps import HeadMaps, plot_head_maps
from clusterlens.figures.similarity import plot_similarity
from clusterlens.metrics.head_clusters import head_clusters
from reference.print_size import printed_sizes

HEADS, TEXTS, LAYERS = 16, 5, 6


def pairs(outer, inner, *names):
    return pd.DataFrame([(one, other) for one in range(outer) for other in range(inner)], columns=names)


@pytest.fixture(scope="module")
def heads():
    """Sixteen heads of which the odd ones attend alike and the even ones attend alike."""
    rng = np.random.default_rng(0)
    alike = (np.arange(HEADS)[:, None] + np.arange(HEADS)) % 2 == 0
    correlation = np.where(alike, 0.7, -0.4) + 0.01 * rng.normal(size=(HEADS, HEADS))
    np.fill_diagonal(correlation, 1)
    correlation = (correlation + correlation.T) / 2
    tokens = np.array([f"\u2581word{place}" for place in range(80)])
    received = rng.dirichlet(np.ones(80), HEADS)
    maps = HeadMaps(2, received, tokens, correlation, head_clusters(correlation, 2), np.full(20, 0.87))
    by_text = pairs(TEXTS, LAYERS, "text", "layer")
    drawn = {name: rng.uniform(0.1, 0.3, len(by_text)) for name in ("attention", "correlation")}
    by_head = pairs(LAYERS, HEADS, "layer", "head")
    by_head["attention"] = rng.uniform(0, 0.2, len(by_head))
    return maps, by_text.assign(uniform=0.02, **drawn), by_head


def test_heads_stand_in_the_order_of_their_tree_beside_their_clusters(heads):
    figure = plot_head_maps(*heads)
    [matrix] = [axis for axis in figure.axes if axis.get_xlabel() == "head"]
    order = [int(label.get_text()) for label in matrix.get_yticklabels()]
    assert sorted(order) == list(range(HEADS)) and len({head % 2 for head in order[:8]}) == 1
    shown = matrix.collections[0].get_array().reshape(HEADS, HEADS)
    np.testing.assert_allclose(shown, heads[0].correlation[np.ix_(order, order)])
    assert "stability 0.87" in "".join(axis.get_title() for axis in figure.axes)
    plt.close(figure)


def test_texts_are_thin_lines_and_small_text_can_be_read(heads, tmp_path):
    figure = plot_head_maps(*heads)
    [axis] = [axis for axis in figure.axes if axis.get_ylabel().startswith("mean correlation")]
    lines = [line for line in axis.lines if len(line.get_xdata()) == LAYERS]
    assert len(lines) == TEXTS + 1 and len(axis.collections) == 1
    style.note(figure, "not the paper's data: " + "a tiny ALBERT trained here for ALBERT xlarge v2; " * 3)
    style.save(figure, tmp_path / "heads.png", tmp_path / "heads.pdf")
    sizes = printed_sizes(tmp_path / "heads.pdf")
    assert sizes[0] >= 5.98 and sizes[-1] < 9


def test_similarity_keeps_the_density_and_draws_each_text():
    cosine = np.linspace(-1, 1, 400, endpoint=False)
    density = np.where((cosine >= 0.2) & (cosine < 0.4), 5.0, 0.0)
    histograms = pd.concat(
        pd.DataFrame({"mode": mode, "layer": layer, "cosine": cosine, "density": density})
        for mode in ("literal", "corrected")
        for layer in (0, 3)
    )
    rows = [("corrected", text, layer, 0.1 * text, 0.5) for text in range(TEXTS) for layer in range(4)]
    rows += [("literal", 0, layer, 0.3, 0.5) for layer in range(4)]
    table = pd.DataFrame(rows, columns=["mode", "text", "layer", "mean_cosine", "share_alike"])
    figure = plot_similarity(table, histograms, name="ALBERT", about={"literal": "one", "corrected": "many"})
    *panels, mean, _ = figure.axes
    assert len(panels) == 4 and panels[0].get_ylim()[1] == pytest.approx(5.0 * 1.05, rel=0.05)
    assert len(mean.lines) == (1 + 1) + (TEXTS + 1) and len(mean.collections) == 1
    plt.close(figure)
