"""Figures, films and pages from small simulations: whole, reproducible, and drawn without torch."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from matplotlib.colors import to_rgb
from PIL import Image, ImageSequence

from clusterlens.errors import UserError
from clusterlens.figures import style
from clusterlens.figures.particle_animation import frames, write_gif, write_mp4
from clusterlens.figures.particle_viewer import page
from clusterlens.imports import PACKAGE, closure
from clusterlens.items import read_items
from clusterlens.metrics.numbers import from_text, number, tidy
from clusterlens.particles.numbers import clustered, fits, points
from clusterlens.particles.record import record
from clusterlens.particles.runs import load, save
from clusterlens.simulated import emergence, spiking, transformers
from clusterlens.simulated.item import find

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
CONFIG, FLOWS = SHIPPED["simulations"], SHIPPED["probing"]["flows"]
PAPERS = {"spiking": spiking, "transformers": transformers, "emergence": emergence}
DRAWN = [(paper, item) for paper, module in PAPERS.items() for item in module.ITEMS]
TRAINED = [(item.paper, item.name) for item in read_items().of() if item.study == "trained_heads"]
ITEMS = [key for key in DRAWN if key not in TRAINED]  # those that need no checkpoint
REGISTERED = {(item.paper, item.name): item for item in read_items() if item.simulated}
pytestmark = pytest.mark.usefixtures("one_thread")


def shrunk(paper: str, item: str) -> dict:
    """An item's block with three seeds, and fewer systems and tokens where it has many."""
    block = json.loads(json.dumps(CONFIG[paper][item])) | {"seeds": [0, 1, 2]}
    if item == "phase_diagram":
        block |= {"beta": [1.0, 9.0], "tokens": 8, "time": 5.0, "snapshots": [5]}
        for variant in block["variants"].values():
            variant |= {"dimension": min(variant["dimension"], 9), "seeds": [0, 1]}
    if item == "fig1_stability":
        block |= {"beta": [1.0, 3.0], "steepness": [2.0, 4.0]}
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
            save(folder / "runs.npz", record(shrunk(paper, item), dtype="float64", device=torch.device("cpu")))
            known[paper, item] = load(folder / "runs.npz")
        return known[paper, item]

    return runs


def test_register_settings_and_drawings_name_the_same_items():
    assert sorted(ITEMS) == sorted(REGISTERED) == sorted((paper, item) for paper in PAPERS for item in CONFIG[paper])
    assert sorted(TRAINED) == sorted((paper, item) for paper in FLOWS for item in FLOWS[paper])
    for key in DRAWN:
        assert bool(find(*key).film) == ("gif" in read_items()[key].extensions), key


def test_an_item_that_nobody_draws_is_refused_by_name():
    with pytest.raises(UserError, match="unknown simulated item 'polytop': did you mean 'polytope'"):
        find("emergence", "polytop")


@pytest.mark.parametrize(("paper", "item"), ITEMS)
def test_an_item_is_drawn_with_its_points_and_numbers(stored, tmp_path, paper, item):
    runs = stored(paper, item)
    style.save(find(paper, item).draw(runs), tmp_path / "a.png", tmp_path / "a.pdf")
    assert np.asarray(Image.open(tmp_path / "a.png")).std() > 5
    table = tidy(find(paper, item).numbers(runs))
    assert not table.duplicated(["row", "column"]).any()
    settings = table[table.row == "settings"].set_index("column").value
    assert settings["particles"] == runs[0].path.shape[1] and settings["step"] == runs[0].settings["step"]
    shown = points(runs)
    assert set(shown.run) == {run.label for run in runs} and shown.value.notna().all()


def test_points_hold_the_tokens_of_the_snapshots(stored):
    runs = stored("transformers", "fig4")
    shown = points(runs)
    places = shown[(shown.time == 5) & (shown.token == 7)].set_index("quantity").value
    np.testing.assert_allclose(places[["x", "y", "z"]].astype(float), runs[0].path[50, 7])


def test_numbers_are_means_over_seeds(stored):
    run = stored("transformers", "fig4")[0]
    table = tidy(find("transformers", "fig4").numbers([run])).set_index(["row", "column"])
    values, found = run.order["clusters"][run.at(15)], table.loc[("t=15", "clusters")]
    assert found["value"] == pytest.approx(values.mean())
    assert found["high"] - found["value"] == pytest.approx(4.303 * values.std(ddof=1) / np.sqrt(3), rel=1e-3)
    assert found["seeds"] == 3


def test_numbers_carry_the_names_of_their_seeds(tmp_path):
    block = shrunk("transformers", "fig3") | {"seeds": [11, 4, 7]}
    runs = record(block, dtype="float64", device=torch.device("cpu"))
    table = tidy(find("transformers", "fig3").numbers(runs)).set_index(["row", "column"])
    for column in ("clusters", "in one cluster"):
        assert [*from_text(table.loc[("identity t=3", column), "by_seed"])] == [11, 4, 7]
    one = from_text(table.loc[("random_long t=12", "clusters"), "by_seed"])
    assert one == from_text(table.loc[("random t=12", "clusters"), "by_seed"])  # the same systems, run for longer


def test_systems_of_several_betas_are_not_mixed(stored):
    run = stored("spiking", "fig1_sweep")[0]
    with pytest.raises(ValueError, match="share a seed"):
        run.by_seed(run.order["clusters"][-1])
    shown = points([run])
    late = shown[(shown.time == 15) & (shown.beta == 1) & (shown.tau == 4) & (shown.quantity == "clusters")]
    chosen = run.chosen(beta=1, steepness=4)
    assert late.value.item() == pytest.approx(run.order["clusters"][run.at(15), chosen].mean())


def test_what_does_not_cluster_is_counted_and_not_fitted(stored):
    runs = stored("emergence", "heads_effect")
    table = tidy(find("emergence", "heads_effect").numbers(runs)).set_index(["row", "column"])
    happened = np.array([clustered(run) for run in runs])
    assert happened.any() and not happened.all()
    for run, these in zip(runs, happened, strict=True):
        assert (np.isfinite(fits(run)[0]) == these).all()
        assert table.loc[(run.label, "clusters at all"), "value"] == pytest.approx(these.mean())
    change = from_text(table.loc[("heads=4 minus heads=1", "merged pairs"), "by_seed"])
    merged = [run.order["merged_places"][-1] for run in (runs[2], runs[0])]
    np.testing.assert_allclose([*change.values()], merged[0] - merged[1], atol=1e-6)


def test_systems_without_a_quantity_drop_out_of_its_mean():
    assert number("a", "b", np.array([1.0, np.nan, 3.0])) == {
        "row": "a",
        "column": "b",
        "value": 2.0,
        "low": pytest.approx(2 - 12.706, abs=1e-3),
        "high": pytest.approx(2 + 12.706, abs=1e-3),
        "seeds": 2,
        "by_seed": "0:1 1:nan 2:3",
    }
    assert np.isnan(number("a", "b", np.array([np.nan]))["value"]) and np.isnan(number("a", "b", 1)["low"])


def test_a_figure_is_the_same_file_each_time(stored, tmp_path):
    runs = stored("transformers", "fig5")
    for name in ("a", "b"):
        style.save(find("transformers", "fig5").draw(runs), tmp_path / f"{name}.png", tmp_path / f"{name}.pdf")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("paper", "item"), [("spiking", "fig1"), ("transformers", "fig5"), ("emergence", "multihead_3d")]
)
def test_films_have_the_frames_asked_for_and_move(stored, tmp_path, paper, item):
    pictures = list(frames(stored(paper, item), find(paper, item).film, 4))
    write_gif(tmp_path / "a.gif", pictures)
    write_mp4(tmp_path / "a.mp4", pictures)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 4
    assert np.abs(pictures[0].astype(int) - pictures[-1]).mean() > 0.5
    assert b"ftyp" in (tmp_path / "a.mp4").read_bytes()[:16]


def test_a_gif_keeps_the_colours_of_every_frame(stored, tmp_path):
    pictures = list(frames(stored("transformers", "fig4"), find("transformers", "fig4").film, 4))
    write_gif(tmp_path / "a.gif", pictures)
    red = np.array(to_rgb(style.RED)) * 255
    with Image.open(tmp_path / "a.gif") as film:
        for picture, frame in zip(pictures, ImageSequence.Iterator(film), strict=True):
            first_token = np.abs(picture - red).max(-1) < 8
            assert first_token.sum() > 10
            shown = np.asarray(frame.convert("RGB")).astype(int)
            assert np.abs(shown[first_token] - red).max() < 24
            assert (shown[0, 0] == 255).all()


def test_a_page_holds_its_data_and_asks_for_nothing(stored):
    runs = stored("transformers", "fig6")
    text = page("T </script> fig6", runs, find("transformers", "fig6").film)
    assert not re.search(r"https?://|src=|@import|@DATA@|@TITLE@", text)
    assert text.count("</script>") == 1
    data = json.loads(re.search(r"const views = (.*);\n", text)[1])
    assert [entry["name"] for entry in data] == ["V = −I", "V = diag(−1, ½, ½)"]
    last = np.array(data[1]["places"][-1]).reshape(-1, 3) / 1000
    np.testing.assert_allclose(last, runs[1].path[-1], atol=6e-4)


def test_a_page_leaves_out_what_cannot_be_turned(stored):
    film = find("emergence", "hyperplanes").film
    text = page("E", stored("emergence", "hyperplanes"), film)
    assert [entry["name"] for entry in json.loads(re.search(r"const views = (.*);\n", text)[1])] == ["d = 3"]


@pytest.mark.parametrize("paper", PAPERS)
def test_one_papers_drawing_does_not_depend_on_anothers(paper):
    others = {file for other in set(PAPERS) - {paper} for file in PACKAGE.rglob(f"{other}*.py")}
    assert others and not others & set(closure(PACKAGE / "simulated" / f"{paper}.py"))


@pytest.mark.parametrize("item", ["circle_start", "multihead_eigenvalues"])
def test_one_snapshot_and_one_matrix_for_all_seeds_can_be_drawn(item):
    block = shrunk("emergence", item) | {"value": {"kind": "identity", "scale": 0.1}, "snapshots": [10]}
    runs, drawn = record(block, dtype="float64", device=torch.device("cpu")), find("emergence", item)
    assert drawn.draw(runs) and drawn.numbers(runs)
