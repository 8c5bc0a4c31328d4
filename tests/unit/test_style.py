"""Colours that mean something can be told apart in deuteranopia and in grey; text and numbers can be read."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from clusterlens.figures import heads, layers, pretraining, style, verdicts
from reference.print_size import printed_sizes

# Deuteranopia in linear RGB (Machado, Oliveira and Fernandes 2009), and linear RGB to XYZ for D65.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
SETS = {
    "palette": [colour for colour in style.PALETTE if colour != style.GREY],
    "verdicts": list(verdicts.COLOURS.values()),
    "variants": list(heads.COLOURS.values()),
    "arms": list(pretraining.COLOURS.values()),
    "models": list(layers.COLOURS.values()),
}


def linear(colours: list[str]) -> np.ndarray:
    srgb = np.array([to_rgb(colour) for colour in colours])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB (n, 3)."""
    t = rgb @ XYZ.T / XYZ.sum(1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def smallest(places: np.ndarray) -> float:
    return min(np.linalg.norm(one - other) for one, other in combinations(places, 2))


@pytest.mark.parametrize("name", SETS)
def test_colours_are_told_apart_in_deuteranopia_and_in_grey(name):
    rgb = linear(SETS[name])
    assert smallest(lab(np.clip(rgb @ DEUTERANOPIA.T, 0, 1))) > 12, "in deuteranopia"
    assert smallest(lab(rgb)[:, :1]) > 6, "in grey"


def test_the_measure_knows_colours_that_deuteranopia_confuses():
    red, green = linear(["#b05050", "#6e7a3f"]), linear(["#b05050"])
    assert smallest(lab(np.clip(red @ DEUTERANOPIA.T, 0, 1))) < smallest(lab(red)) / 2
    np.testing.assert_allclose(lab(linear(["#ffffff"])), [[100, 0, 0]], atol=0.02)
    assert lab(green)[0, 1] > 30


def test_every_verdict_has_a_symbol_of_its_own():
    assert list(verdicts.SYMBOLS) == list(verdicts.COLOURS)
    assert len(set(verdicts.SYMBOLS.values())) == len(verdicts.SYMBOLS)


@pytest.mark.parametrize(("width", "printed"), [(style.COLUMN, [6.5, 7, 8]), (2 * style.PAGE, [3.25, 3.5, 4])])
def test_sizes_are_those_of_the_printed_page(tmp_path, width, printed):
    figure, [axis] = style.new_figure(width=width)
    axis.set(title="title", yscale="log", ylim=(1e-4, 1e4))
    style.note(figure, "note")
    style.save(figure, tmp_path / "a.png", tmp_path / "a.pdf")
    assert printed_sizes(tmp_path / "a.pdf") == pytest.approx(printed, rel=0.01)


@pytest.mark.parametrize(("limits", "plain"), [((0.98, 1.0), True), ((0.5, 20), True), ((1e-3, 1e3), False)])
def test_short_log_axes_have_plain_numbers(limits, plain):
    figure, [axis] = style.new_figure()
    axis.set(yscale="log", ylim=limits)
    style.write_plain_numbers(figure)
    figure.canvas.draw()
    texts = [label.get_text() for label in axis.get_yticklabels(which="both") if label.get_text()]
    assert texts and all(("$" not in text) == plain for text in texts)


def test_labels_beside_panels_in_subfigures_are_not_cut(tmp_path):
    rng = np.random.default_rng(0)
    places = [(run, seed, layer) for run in heads.COLOURS for seed in range(5) for layer in range(1, 5)]
    layers = pd.DataFrame(places, columns=["run", "seed", "layer"]).assign(silent_share=0.0)
    layers["mean_correlation"] = layers["run"].str.endswith("no_skip") * 0.8 + rng.uniform(-0.15, 0.2, len(layers))
    rows = [(run, layer, a, b) for run in heads.COLOURS for layer in range(1, 5) for a in range(4) for b in range(4)]
    pairs = pd.DataFrame(rows, columns=["run", "layer", "head", "other"]).assign(correlation=0.1)
    figure = heads.plot_heads(pairs, layers, "fig2", [1, 2, 3, 4])
    style.note(figure, "not the paper's data")
    style.save(figure, tmp_path / "heads.png", tmp_path / "heads.pdf")
    with Image.open(tmp_path / "heads.png") as picture:
        assert np.asarray(picture.convert("L"))[:, 0].min() > 200
