"""The list of targets: state, time and GPU of every item."""

import pytest
import targets

from clusterlens.items import read_items

ITEM = read_items()["spiking", "table2"]


@pytest.mark.parametrize(
    ("places", "state"),
    [((), "–"), (("results",), "paper"), (("results/mini",), "mini"), (("results", "results/mini"), "paper, mini")],
)
def test_state_is_what_has_been_made_here(tmp_path, places, state):
    for place in places:
        for file in (*ITEM.files, ITEM.manifest):
            path = tmp_path / file.replace("<results>", place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    assert targets.state(ITEM, tmp_path) == state


def test_an_item_without_its_manifest_is_not_made(tmp_path):
    path = tmp_path / ITEM.files[0].replace("<results>", "results")
    path.parent.mkdir(parents=True)
    path.touch()
    assert targets.state(ITEM, tmp_path) == "–"


def test_every_item_is_listed_with_its_time_and_gpu(capsys):
    targets.main()
    lines = capsys.readouterr().out.splitlines()
    assert all(any(line.startswith(f"{item.target} ") for line in lines) for item in read_items())
    line = next(line for line in lines if line.startswith(f"{ITEM.target} "))
    assert f"{ITEM.mini_seconds} s" in line and " yes " in line and line.endswith(ITEM.paper_time)
