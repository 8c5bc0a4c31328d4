"""A job's log, its manifest, and how a user's mistake ends it."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from clusterlens import job, provenance
from clusterlens.errors import UserError
from clusterlens.files import read_json, sha256, write_json

DIGITS = provenance.stand_in("cifar10", "digits for CIFAR-10", provenance.EMBEDDED)


class Named(list):
    """Enough of Snakemake's named list: a list whose entries also have names."""

    def __init__(self, **entries):
        super().__init__(entries.values())
        self._entries = entries
        self.__dict__.update(entries)

    def keys(self):
        return self._entries.keys()

    def items(self):
        return self._entries.items()

    def get(self, name, default=None):
        return self._entries.get(name, default)


@pytest.fixture
def smk(tmp_path):
    data = tmp_path / "points.csv"
    data.write_text("1\n")
    write_json(tmp_path / "data.manifest.json", {"stand_ins": [DIGITS], "seeds": [3], "scale": "mini"})
    return SimpleNamespace(
        rule="plot_points",
        input=Named(data=str(data), manifest=str(tmp_path / "data.manifest.json")),
        output=Named(manifest=str(tmp_path / "out.manifest.json")),
        params=Named(beta=1.0),
        wildcards=Named(item="fig1"),
        log=[str(tmp_path / "job.log")],
        config={"beta": 1.0},
    )


def test_manifest_says_where_a_result_comes_from(smk):
    job.run(lambda smk: {"clusters": 4}, smk)
    manifest = read_json(smk.output.manifest)
    assert manifest["scale"] == "mini"
    assert manifest["stand_ins"] == [DIGITS]
    assert manifest["settings"] == {"beta": 1.0}
    assert manifest["seeds"] == [3]
    assert manifest["clusters"] == 4
    assert manifest["inputs"][smk.input.data] == sha256(smk.input.data)
    assert {"commit", "versions", "device", "seconds", "config_digest", "code"} <= manifest.keys()


def test_an_input_that_is_not_what_its_job_wrote_is_refused_by_name(smk, tmp_path, capsys):
    table = tmp_path / "made" / "metrics.csv"
    table.parent.mkdir()
    smk.output = Named(table=str(table), manifest=str(tmp_path / "made.manifest.json"))
    job.run(lambda smk: table.write_text("accuracy\n0.7549\n") and None, smk)
    assert read_json(smk.output.manifest)["outputs"] == {"made/metrics.csv": sha256(table)}

    smk.input = smk.output
    smk.output = Named(manifest=str(tmp_path / "judged.manifest.json"))
    job.run(lambda smk: None, smk)
    for content in ("accuracy\n0.8700\n", "accu"):
        table.write_text(content)
        with pytest.raises(SystemExit):
            job.run(lambda smk: pytest.fail("the job ran"), smk)
        assert f"{table} is not what its job wrote" in capsys.readouterr().err


def test_what_a_job_needs_no_more_goes_when_its_manifest_is_there(smk, tmp_path):
    kept, spent = tmp_path / "checkpoints" / "other", tmp_path / "checkpoints" / "run" / "0"
    kept.mkdir(parents=True), spent.mkdir(parents=True)
    (spent / "epoch1.pt").touch()

    def main(smk):
        raise UserError("diverged")

    with pytest.raises(SystemExit):
        job.run(main, smk)
    assert spent.is_dir()
    job.run(lambda smk: {"spent": [spent]}, smk)
    assert not spent.parent.exists() and kept.is_dir() and "spent" not in read_json(smk.output.manifest)


def test_a_job_that_draws_its_own_seeds_says_so(smk):
    job.run(
        lambda smk: {"seeds": [1, 0, 1], "stand_ins": [provenance.stand_in("imdb", "generated", provenance.EMBEDDED)]},
        smk,
    )
    manifest = read_json(smk.output.manifest)
    assert manifest["seeds"] == [0, 1]
    assert [entry["label"] for entry in manifest["stand_ins"]] == ["digits for CIFAR-10", "generated"]


def test_log_opens_with_versions_device_seed_and_commit(smk):
    smk.params = Named(seed=7)
    job.run(lambda smk: None, smk)
    head = "".join(Path(smk.log[0]).read_text().splitlines()[:3])
    assert all(word in head for word in ("plot_points", "commit", "device", "seed 7", "python=", "torch="))


def test_a_users_mistake_is_one_line_and_no_manifest(smk, tmp_path, capsys):
    def main(smk):
        raise UserError("no column 'bmi': did you mean 'BMI'?")

    with pytest.raises(SystemExit) as stop:
        job.run(main, smk)
    assert stop.value.code == 1
    assert not (tmp_path / "out.manifest.json").exists()
    errors = [line for line in capsys.readouterr().err.splitlines() if "ERROR" in line]
    assert len(errors) == 1 and errors[0].endswith("did you mean 'BMI'?")


def test_an_unexpected_error_is_one_line_and_its_traceback_is_in_the_log(smk, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        job.run(lambda smk: 1 / 0, smk)
    shown = capsys.readouterr().err
    assert stop.value.code == 1 and not (tmp_path / "out.manifest.json").exists()
    assert shown.splitlines()[-1].endswith(f"ERROR internal error in plot_points, see {smk.log[0]}")
    assert "Traceback" not in shown and "ZeroDivisionError" in Path(smk.log[0]).read_text()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (
            torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
            "GPU: lower batch_size or max_tokens",
        ),
        (MemoryError(), "left: lower batch_size or max_tokens"),
    ],
)
def test_memory_that_runs_out_is_one_line_that_says_what_to_lower(smk, capsys, error, advice):
    def main(smk):
        raise error

    smk.params = Named(settings={"batch_size": 4, "max_tokens": 512, "layer": 3}, device="auto")
    with pytest.raises(SystemExit):
        job.run(main, smk)
    [line] = [line for line in capsys.readouterr().err.splitlines() if "ERROR" in line]
    assert advice in line and ("device: cpu" in line) == ("GPU" in line)


def test_an_interrupt_says_nothing(smk, capsys):
    def main(smk):
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as stop:
        job.run(main, smk)
    assert stop.value.code == 130
    assert all(" INFO " in line for line in capsys.readouterr().err.splitlines())


def test_commit_is_that_of_this_checkout_or_says_it_is_unknown(monkeypatch, tmp_path):
    assert provenance.commit() == "unknown" or len(provenance.commit().removesuffix("+changes")) == 40
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit() == "unknown"


def test_history_holds_this_commit_and_those_before_it(monkeypatch, tmp_path):
    def git(*words: str) -> str:
        names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(["git", *names, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "--initial-branch=main")
    commits = []
    for branch in ("main", "main", "other"):
        if branch == "other":
            git("switch", "--create", "other")
        git("commit", "--allow-empty", "--message=x", f"--date={1700000000 + len(commits)}")
        commits.append(git("rev-parse", "HEAD").strip())
    git("switch", "main")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    found = [provenance.in_history(name) for name in (*commits, f"{commits[0]}+changes", "unknown", "1" * 40)]
    assert found == [True, True, False, False, False, False]
