"""Figures, films and pages from small simulations: whole, reproducible, and drawn without torch."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from PIL import Image

from clusterlens.figures import style
from clusterlens.figures.particle_animation import frames, write_gif, write_mp4
from clusterlens.figures.particle_data import load, mean_spread, points
from clusterlens.figures.particle_films import FILMS
from clusterlens.figures.particle_items import FIGURES, numbers
from clusterlens.figures.particle_viewer import page, view
from clusterlens.imports import closure
from clusterlens.particles.record import record

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["simulations"]
TEMPLATE = (SCRIPTS / "clusterlens" / "figures" / "particle_viewer.html").read_text()
pytestmark = pytest.mark.usefixtures("one_thread")


def shrunk(paper: str, item: str) -> dict:
    """An item's block with three seeds, and fewer systems and tokens where it has many."""
    block = json.loads(json.dumps(CONFIG[paper][item])) | {"seeds": [0, 1, 2]}
    if item == "phase_diagram":
        block |= {"beta": [1.0, 9.0], "tokens": 8, "time": 5.0, "snapshots": [5]}
        for variant in block["variants"].values():
            variant |= {"dimension": min(variant["dimension"], 9), "seeds": [0, 1]}
    if item == "more_tokens":
        block["tokens"] = 30
    if item == "tokens_effect":
        block["sweep"]["tokens"] = [5, 10]
    return block


@pytest.fixture(scope="module")
def stored(tmp_path_factory, one_thread):
    """Runs of an item, simulated once."""
    folder, known = tmp_path_factory.mktemp("runs"), {}

    def runs(paper, item):
        if (paper, item) not in known:
            arrays = record(shrunk(paper, item), dtype="float64", device=torch.device("cpu"))
            np.savez(folder / f"{paper}_{item}.npz", **arrays)
            known[paper, item] = load(folder / f"{paper}_{item}.npz")
        return known[paper, item]

    return runs


def test_every_configured_item_has_its_figure():
    assert set(FIGURES) == {
        (paper, item) for paper in ("spiking", "transformers", "emergence") for item in CONFIG[paper]
    }


@pytest.mark.parametrize(("paper", "item"), FIGURES)
def test_an_item_is_drawn_with_its_points_and_numbers(stored, tmp_path, paper, item):
    runs = stored(paper, item)
    style.save(FIGURES[paper, item](runs), tmp_path / "a.png", tmp_path / "a.pdf")
    assert np.asarray(Image.open(tmp_path / "a.png")).std() > 5
    table = numbers(item, runs)
    assert list(table.columns) == ["row", "column", "value", "spread", "seeds"]
    assert not table.duplicated(["row", "column"]).any()
    settings = table[table.row == "settings"].set_index("column").value
    assert settings["particles"] == runs[0].path.shape[1] and settings["step"] == runs[0].settings["step"]
    tidy = points(runs)
    assert set(tidy.run) == {run.label for run in runs} and tidy.value.notna().all()


def test_points_hold_the_tokens_of_the_snapshots(stored):
    runs = stored("transformers", "fig4")
    tidy = points(runs)
    places = tidy[(tidy.time == 5) & (tidy.token == 7)].set_index("quantity").value
    np.testing.assert_allclose(places[["x", "y", "z"]].astype(float), runs[0].path[50, 7])


def test_numbers_are_means_over_seeds(stored):
    run = stored("transformers", "fig4")[0]
    table = numbers("fig4", [run]).set_index(["row", "column"])
    values = run.order["clusters"][run.at(15)]
    assert table.loc[("t=15", "clusters"), "value"] == pytest.approx(values.mean())
    assert table.loc[("t=15", "clusters"), "spread"] == pytest.approx(values.std(ddof=1))
    assert table.loc[("t=15", "clusters"), "seeds"] == 3


def test_systems_without_a_quantity_drop_out_of_its_mean():
    assert mean_spread(np.array([1.0, np.nan, 3.0])) == (2.0, pytest.approx(np.sqrt(2)), 2)
    assert pd.isna(mean_spread(np.array([np.nan]))[0])


def test_a_figure_is_the_same_file_each_time(stored, tmp_path):
    runs = stored("transformers", "fig5")
    for name in ("a", "b"):
        style.save(FIGURES["transformers", "fig5"](runs), tmp_path / f"{name}.png", tmp_path / f"{name}.pdf")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("paper", "item"), [("spiking", "fig1"), ("transformers", "fig5"), ("emergence", "multihead_3d")]
)
def test_films_have_the_frames_asked_for_and_move(stored, tmp_path, paper, item):
    runs = stored(paper, item)
    panels = [(runs[index], colour, title, first) for index, colour, title, first in FILMS[paper, item]]
    pictures = list(frames(panels, 4))
    write_gif(tmp_path / "a.gif", pictures)
    write_mp4(tmp_path / "a.mp4", pictures)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 4
    assert np.abs(pictures[0].astype(int) - pictures[-1]).mean() > 0.5
    assert b"ftyp" in (tmp_path / "a.mp4").read_bytes()[:16]


def test_a_page_holds_its_data_and_asks_for_nothing(stored):
    runs = stored("transformers", "fig6")
    text = page(TEMPLATE, "T </script> fig6", [view(run, run.label, first=True) for run in runs])
    assert not re.search(r"https?://|src=|@import|@DATA@|@TITLE@", text)
    assert text.count("</script>") == 1
    data = json.loads(re.search(r"const views = (.*);\n", text)[1])
    assert [entry["name"] for entry in data] == ["literal", "mixed"]
    last = np.array(data[1]["places"][-1]).reshape(-1, 3) / 1000
    np.testing.assert_allclose(last, runs[1].path[-1], atol=6e-4)


@pytest.mark.parametrize("script", ["plot_particles", "animate_particles", "plot_turnable"])
def test_drawing_does_not_import_torch(script):
    for file in (SCRIPTS / f"{script}.py", *closure(SCRIPTS / f"{script}.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "torch" for name in names), file
