"""The whole workflow, once, with the smallest models: every script runs, and every item provides what is judged."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from clusterlens.items import read_items
from clusterlens.verify.labels import read_labels, row_pattern, unlisted
from clusterlens.verify.results import read_results
from reference.print_size import printed_sizes

ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = ("--configfile", "config/mini.yaml", str(ROOT / "tests" / "workflow" / "tiny.yaml"))
JUDGING = {  # what follows when any numbers may have changed
    "Comparing our numbers with the published ones",
    "Judging the papers' claims",
    "Writing the captions of the report",
    "Drawing the verdicts",
    "Writing the atlas to results/mini/atlas/index.html",
}
JUDGED = [item for item in read_items() if item.judged]


@pytest.fixture(scope="module")
def finished(tmp_path_factory, make_checkout, snakemake) -> Path:
    """The checkout after the run."""
    folder = make_checkout(tmp_path_factory.mktemp("whole"))
    run = snakemake("--cores", "2", *OVERLAYS, "--", "all", "data_only", folder=folder)
    assert run.returncode == 0, run.stderr[-5000:]
    return folder


def numbers_of(folder: Path, item) -> pd.DataFrame:
    manifest = str(folder / item.manifest.replace("<results>", "results/mini"))
    return read_results([manifest], read_items())[item.paper, item.name].numbers


def test_every_script_ran(finished):
    logs = finished / "logs" / "mini"
    ran = {path.name.removesuffix(".log") for path in logs.iterdir()}
    assert {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")} <= ran


@pytest.mark.parametrize("item", JUDGED, ids=lambda item: f"{item.paper}/{item.name}")
def test_an_item_provides_exactly_the_labels_that_are_listed(finished, item):
    numbers = numbers_of(finished, item)
    assert unlisted(item.paper, item.name, numbers) == []
    for pattern, columns in read_labels()[item.paper][item.name].items():
        found = numbers[[bool(row_pattern(pattern).fullmatch(row)) for row in numbers["row"]]]
        assert set(columns) <= set(found["column"]), f"no row {pattern} with all of {columns}"


def test_nothing_that_is_judged_is_missing(finished):
    for rule in ("verify_claims", "verify_numbers"):
        text = (finished / "logs" / "mini" / f"{rule}.log").read_text()
        assert not re.findall("cannot be judged|provides no row", text), text


def test_no_file_holds_a_secret_of_the_environment(finished, fake_keys):
    """Neither logs nor manifests, neither results nor the atlas, nor what Snakemake keeps."""
    files = [file for file in finished.rglob("*") if file.is_file()]
    assert not [file for file in files if any(key in file.read_bytes() for key in fake_keys)]


def test_a_manifest_holds_the_settings_and_the_scale_of_its_own_job(finished):
    results = finished / "results" / "mini"
    simulated = json.loads((results / "transformers" / "data" / "fig4.manifest.json").read_text())
    assert simulated["settings"]["settings"]["beta"] == 9.0 and simulated["scale"] == "paper"
    trained = json.loads((results / "spiking" / "table2.manifest.json").read_text())
    assert trained["scale"] == "mini" and [entry["dataset"] for entry in trained["stand_ins"]] == ["cifar10"]
    run = json.loads((results / "runs" / "vit" / "seed0" / "manifest.json").read_text())
    assert run["settings"]["training"]["epochs"] == 3 and "correlation_images" not in run["settings"]["training"]


def test_the_atlas_has_a_whole_page_for_every_item(finished):
    for item in read_items():
        text = (finished / item.page.replace("<results>", "results/mini")).read_text()
        assert "Missing file" not in text and ("No manifest" in text) != item.built, item.page


def test_text_can_be_read_when_a_figure_is_printed(finished):
    figures = sorted((finished / "results" / "mini").rglob("*.pdf"))
    smallest = {str(figure): min(printed_sizes(figure)) for figure in figures}
    assert len(smallest) > 50 and not {name: size for name, size in smallest.items() if size < 5.98}


def test_finished_runs_leave_no_checkpoints(finished):
    assert not list((finished / "results" / "mini" / "checkpoints").rglob("*.pt"))


def plan(snakemake, folder: Path, *settings: str) -> list[str]:
    """The messages of the jobs that a dry run plans with these settings."""
    changed = ("--config", *settings) if settings else ()
    run = snakemake("-n", "--cores", "2", *OVERLAYS, *changed, folder=folder)
    assert run.returncode == 0, run.stderr
    return re.findall(r"^Job \d+: (.+)$", run.stdout + run.stderr, re.MULTILINE)


def test_settings_of_a_figure_a_picture_and_the_device_plan_only_what_uses_them(finished, snakemake):
    planned = plan(snakemake, finished, "device=cpu", "attention={links: 1000, clusters: {picture: 3}}")
    assert [one for one in planned if one.startswith("Attention clusters")] == ["Attention clusters of picture"]
    others = {one.split()[0] for one in planned if one not in JUDGING}
    assert others == {"Attention", "Drawing", "Gathering"}
    assert "Drawing fig4 of Attention Clusters" in planned and "Drawing fig16 of Attention Clusters" not in planned


def test_existing_results_are_judged_whatever_the_config_says_now(finished, snakemake):
    planned = plan(snakemake, finished, "verify={items: existing}", "training={epochs: 9}", "architecture={heads: 1}")
    assert planned and set(planned) <= JUDGING


def test_editing_plumbing_or_comments_plans_nothing(finished, snakemake):
    library = finished / "workflow" / "scripts" / "clusterlens"
    for name in ("errors", "files", "job", "logs", "provenance"):
        file = library / f"{name}.py"
        file.write_text(file.read_text() + "\nEDITED = 1\n")
    model = library / "models" / "vit.py"
    model.write_text(model.read_text() + "\n# a comment\n")
    assert plan(snakemake, finished) == []


def test_editing_a_figure_of_one_paper_plans_that_papers_figures_only(finished, snakemake):
    drawing = finished / "workflow" / "scripts" / "clusterlens" / "figures" / "emergence_particles.py"
    before = drawing.read_text()
    drawing.write_text(before + "\nEDITED = 1\n")
    planned = plan(snakemake, finished)
    drawing.write_text(before)
    drawn = [message for message in planned if message not in JUDGING]
    assert drawn and all("emergence/" in message and "Simulating" not in message for message in drawn)


def test_an_edited_result_is_not_judged(finished, snakemake):
    edited = "results/mini/attention_clusters/metrics.numbers.csv"
    table = (finished / edited).read_text()
    (finished / edited).write_text(table.replace("0.", "0.9", 1))
    run = snakemake("--cores", "1", *OVERLAYS, "results/mini/claims.csv", folder=finished)
    said = [line for line in run.stderr.splitlines() if line.startswith("clusterlens: ")]
    assert run.returncode != 0 and len(said) == 1 and f"{edited} is not what its job wrote" in said[0]
