"""What a user types works as typed: plans, dry-runs, refusals, reruns."""

from pathlib import Path

import pytest

from clusterlens.items import read_items

ROOT = Path(__file__).resolve().parents[2]
MINI = ("--configfile", "config/mini.yaml")
SCALES = {"paper": ((), "results"), "laptop": (("--configfile", "config/laptop.yaml"), "results/laptop")}
SCALES |= {"mini": (MINI, "results/mini")}


def planned_files(snakemake, *words: str) -> set[str]:
    """Every output file of the planned DAG."""
    run = snakemake("--summary", "--cores", "1", *words)
    assert run.returncode == 0, run.stderr
    return {line.split("\t")[0] for line in run.stdout.splitlines()[1:]}


@pytest.mark.parametrize(("words", "results"), SCALES.values(), ids=SCALES)
def test_every_built_item_is_planned(snakemake, words, results):
    files = planned_files(snakemake, *words)
    for item in read_items().of():
        assert {path.replace("<results>", results) for path in item.files} <= files
    assert {f"{results}/comparison.csv", f"{results}/claims.csv"} <= files


def test_the_configs_share_no_file(snakemake):
    planned = [file for words, _ in SCALES.values() for file in planned_files(snakemake, *words)]
    own = [file for file in planned if not file.startswith("workflow/")]
    assert own and len(own) == len(set(own))


def test_the_line_that_users_type_plans_six_training_runs(snakemake):
    run = snakemake("-n", "--cores", "1", "--resources", "gpu=1", "results/table2.csv", "--forceall")
    assert run.returncode == 0, run.stderr
    counts = dict(line.split()[:2] for line in run.stdout.splitlines() if len(line.split()) == 2)
    assert counts["train_model"] == "6"
    assert counts["alias_spiking"] == "1"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("devise=cpu", "did you mean 'device'"),
        ("mirror=no/such/folder", "no folder 'no/such/folder'"),
        ("training={epochs: -1}", "training/epochs"),
    ],
)
def test_a_wrong_config_is_one_line_before_any_job(snakemake, setting, words):
    run = snakemake("--cores", "1", "--config", setting, "results/table1.csv")
    assert run.returncode == 1
    assert "Building DAG" not in run.stdout + run.stderr
    said = [line for line in run.stderr.splitlines() if line.startswith("clusterlens:")]
    assert len(said) == 1 and words in said[0]
    assert "Traceback" not in run.stderr


TABLE = "results/mini/attention_clusters/table2.csv"


def test_editing_a_module_reruns_its_users_and_editing_prose_reruns_nothing(snakemake, checkout):
    assert snakemake("--cores", "1", TABLE, *MINI, folder=checkout).returncode == 0

    def planned() -> bool:
        run = snakemake("-n", "--cores", "1", TABLE, *MINI, folder=checkout)
        assert run.returncode == 0, run.stderr
        return "Nothing to be done" not in run.stdout + run.stderr

    library = checkout / "workflow" / "scripts" / "clusterlens"
    assert not planned()
    for untouched in (library / "figures" / "style.py", library / "config.py"):
        untouched.write_text(untouched.read_text() + "\nEDITED = 1\n")
    readme = checkout / "README.md"
    readme.write_text(readme.read_text() + "\nEdited.\n")
    assert not planned()
    used = library / "figures" / "configuration.py"
    used.write_text(used.read_text() + "\n# a comment\n")
    assert not planned()
    used.write_text(used.read_text() + "\nEDITED = 1\n")
    assert planned()


def test_a_changed_value_reruns_the_table_that_shows_it(snakemake, checkout):
    assert snakemake("--cores", "1", TABLE, *MINI, folder=checkout).returncode == 0
    run = snakemake("--cores", "1", TABLE, *MINI, "--config", "language_model={layers: 3}", folder=checkout)
    assert run.returncode == 0
    assert "Number of layers,3\n" in (checkout / TABLE).read_text()
