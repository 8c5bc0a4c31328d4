"""What the rules ask the project: what a job depends on, and what verification takes."""

import copy
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from snakemake.rules import Rule

from clusterlens import pace
from clusterlens.data.facts import facts_of
from clusterlens.files import write_json
from clusterlens.metrics.numbers import TIDY
from clusterlens.project import Project
from clusterlens.provenance import ROOT
from clusterlens.verify.claims import judge
from clusterlens.verify.compare import COLUMNS
from clusterlens.verify.results import Result

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def project(**sections) -> Project:
    """Of the shipped config with these sections or keys in it."""
    config = copy.deepcopy(CONFIG)
    for name, changed in sections.items():
        config[name] = config[name] | changed if isinstance(changed, dict) else changed
    return Project(config)


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Of three items: one whole, one without its numbers, one without its manifest."""
    folder = tmp_path / "results" / "spiking"
    folder.mkdir(parents=True)
    whole = ("table1.manifest.json", "table1.numbers.csv", "table1.csv")
    for name in (*whole, "table2.manifest.json", "fig1.numbers.csv"):
        (folder / name).touch()
    monkeypatch.chdir(tmp_path)
    return folder


def test_existing_results_are_files_that_no_rule_makes(results):
    chosen = project(verify={"items": "existing"})
    assert [(item.paper, item.name) for item in chosen.judged()] == [("spiking", "table1")]
    assert chosen.as_found(item.numbers for item in chosen.judged()) == [str(results / "table1.numbers.csv")]
    assert chosen.shown_files() == [
        str(results / name) for name in ("table1.csv", "table1.numbers.csv", "fig1.numbers.csv")
    ]
    assert chosen.wanted_targets() == []


def test_all_results_are_made_first(results):
    chosen = project()
    assert len(chosen.judged()) > 50 and chosen.wanted_targets() == chosen.targets() == chosen.shown_files()
    assert "<results>/spiking/table2.numbers.csv" in chosen.as_found(item.numbers for item in chosen.judged())


def test_device_and_mirror_rerun_nothing_and_all_else_does(tmp_path):
    chosen = project(device="cpu", mirror=str(tmp_path))
    used = chosen.used("train_model", architecture="architecture", device="device")
    used |= {"mirror": chosen.mirror, "entry": chosen.entry}
    tracked = {name for name, value in used.items() if not Rule._is_deriving_function(value)}
    assert tracked == {"architecture", "scale", "code", "entry"}
    wildcards = SimpleNamespace(dataset="cifar10", items=dict().items)
    assert (used["device"](wildcards, output=[]), used["mirror"](wildcards, output=[])) == ("cpu", str(tmp_path))


def test_other_columns_of_real_data_withhold_the_verdicts_on_the_papers(tmp_path):
    heart = CONFIG["data"]["heart"] | {"features": ["age", "chol", "trestbps"], "samples_per_class": [50, 40]}
    chosen = project(data={"heart": heart})
    dataset = SimpleNamespace(dataset="heart")
    entry, raw = chosen.entry(dataset), tmp_path / "raw.manifest.json"
    plain = dict.fromkeys(("title", "licence", "source", "revision"), "") | {"dataset": "heart", "files": {}}
    write_json(raw, plain | {"stand_ins": []})

    assert facts_of(entry, entry["counts"], str(raw), project().changed_data(dataset))["stand_ins"] == []
    (label,) = facts_of(entry, entry["counts"], str(raw), chosen.changed_data(dataset))["stand_ins"]
    said = "with other settings (features: age, chol, trestbps; samples_per_class: 50, 40)"
    assert label["dataset"] == "heart" and label["label"].endswith(said)

    numbers = pd.DataFrame([["Data C global", "accuracy", "0.5", "", "", "1", ""]], columns=TIDY)
    claim = {"id": "A.x", "paper": "attention_clusters", "item": "metrics", "needs": "data", "data": ["heart"]}
    claim |= {"check": "at_least", "args": {"row": "Data C global", "column": "accuracy", "value": 0.7}}
    compared = pd.DataFrame(columns=COLUMNS)
    assert judge(claim, Result(numbers, "custom", (), 1), compared)["verdict"] == "not reproduced"
    assert judge(claim, Result(numbers, "custom", (label,), 1), compared)["verdict"] == "did not hold here"


def test_training_jobs_without_a_gpu_take_as_many_threads_as_were_measured_to_be_fastest(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = Project(copy.deepcopy(CONFIG), cores=2)
    assert (found.training_threads(1), found.training_threads(0)) == (4, 1)
    pace.remember(found.config, 2, {"threads": 2, "images_per_second": 10.0})
    assert (found.training_threads(1), found.training_threads(0)) == (4, 2)
