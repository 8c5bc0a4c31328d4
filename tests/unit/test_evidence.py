"""Published evidence: what it says comes from the run's files, and a run that is not whole is refused in one line."""

import json
import re
from collections import Counter
from pathlib import Path

import evidence
import launcher
import media
import pandas as pd
import pytest
from PIL import Image

from clusterlens import pace, provenance
from clusterlens.errors import UserError
from clusterlens.files import read_json, sha256, write_json, write_text
from clusterlens.progress import read_seconds
from clusterlens.provenance import REAL, stand_in
from clusterlens.verify.claims import VERDICTS, judge_all
from clusterlens.verify.compare import compare_all
from clusterlens.verify.evidence_page import WHY, claims_table, page, why_not
from clusterlens.verify.published import read_claims, read_published
from clusterlens.verify.run import read_run
from reference.configs import CONFIG

COMMIT = "a" * 40
SUBSET = stand_in("cifar10", "a subset of CIFAR-10 (train 10,000 of 50,000)", REAL)
FOLDERS = {
    "results": Path("results/laptop"),
    "resources": Path("resources/laptop"),
    "logs": Path("logs/laptop"),
    "benchmarks": Path("logs/laptop/benchmarks"),
}
RESULTS = FOLDERS["results"]
MEANS = {"Model": ["Baseline ViT"], "Top-1 (%)": ["54.25"], "Top-1 (%) ±95%": ["1.5"]}


def job(manifest: Path, rule: str, outputs: list[str] = (), inputs: list[Path] = (), **others) -> Path:
    """The manifest of a job that has written these files beside it."""
    plain = {"rule": rule, "wildcards": {}, "scale": "laptop", "stand_ins": [], "seeds": [0, 1, 2], "device": "cpu"}
    plain |= {"settings": {}, "commit": COMMIT, "command": "snakemake -c 2", "machine": "a laptop, 2 cores"}
    plain |= {"finished": "2026-01-01T01:00:00+00:00", "seconds": 600.0} | others
    plain["inputs"] = {str(path): sha256(path) for path in inputs}
    plain["outputs"] = {name: sha256(manifest.parent / name) for name in outputs}
    write_json(manifest, plain)
    return manifest


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run of S Table 2 on a subset of CIFAR-10 in the working folder; everything else was not made."""
    monkeypatch.chdir(tmp_path)
    write_text(FOLDERS["resources"] / "cifar10" / "images.npz", "images")
    facts = {"dataset": "cifar10", "title": "CIFAR-10", "source": "mirror", "counts": {"train": 10000}}
    facts |= {"stand_ins": [SUBSET], "seeds": []}
    data = job(FOLDERS["resources"] / "cifar10" / "manifest.json", "prepare_images", ["images.npz"], **facts)
    settings = {"training": {"train_images": 4000, "epochs": 20}, "seed": 0}
    trained = job(RESULTS / "runs" / "vit" / "manifest.json", "train_model", [], [data], settings=settings)
    write_text(FOLDERS["benchmarks"] / "train_model" / "vit_seed0.tsv", "s\tcpu_time\n700\t1260.0\n")
    write_text(RESULTS / "spiking" / "table2.csv", pd.DataFrame(MEANS).to_csv(index=False))
    table = job(RESULTS / "spiking" / "table2.manifest.json", "table_final", ["table2.csv"], [trained])
    comparison = compare_all(read_published(), {})
    claims = judge_all(read_claims(), {}, comparison)
    claims.loc[claims["id"] == "S.table2", "verdict"] = "held at laptop scale"
    write_text(RESULTS / "claims.csv", claims.to_csv(index=False))
    write_text(RESULTS / "comparison.csv", comparison.to_csv(index=False))
    Image.new("RGB", (40, 30), "#30a483").save(RESULTS / "verdicts.png")
    tables = [
        job(RESULTS / "comparison.manifest.json", "verify_numbers", ["comparison.csv"], [table]),
        job(RESULTS / "claims.manifest.json", "verify_claims", ["claims.csv"], [table]),
    ]
    drawn = {"finished": "2026-01-01T01:30:00+00:00", "seconds": 0.0}
    job(RESULTS / "verdicts.manifest.json", "plot_verdicts", ["verdicts.png"], tables, **drawn)
    write_text(tmp_path / "laptop.yaml", json.dumps({"pathvars": {name: str(path) for name, path in FOLDERS.items()}}))
    write_text(FOLDERS["logs"] / "seconds.csv", "job,seconds\ntrain_model vit,600\ntrain_model vit,700\nall,0.1\n")
    monkeypatch.setattr("clusterlens.verify.run.in_history", lambda name: name == COMMIT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pace.remember(CONFIG, 2, {"threads": 1, "images_per_second": 100.0})
    return tmp_path


def test_what_is_published_comes_from_the_files(made):
    evidence.publish(made / "laptop.yaml", made / "docs", cores=2)
    assert {file.name for file in (made / "docs").iterdir()} == {
        "README.md",
        "claims.csv",
        "machine.json",
        "numbers.csv",
        "seconds.csv",
        "verdicts.png",
    }
    assert read_seconds(made / "docs" / "seconds.csv") == {"train_model vit": 650, "all": 0.1}
    assert read_json(made / "docs" / "machine.json")["images_per_second"] == 100
    text = (made / "docs" / "README.md").read_text()
    for words in ("a laptop, 2 cores", COMMIT, "snakemake -c 2", SUBSET["label"], "train 10,000", "54.25 ± 1.5"):
        assert words in text
    assert "| train_model | 1 | 0 to 2 | 10 min | 21 min |" in text
    assert "2026-01-01 00:50 to 2026-01-01 01:30 UTC" in text, "from the start of the first job"
    assert "training/epochs 20, training/train_images 4000" in text
    own = Counter(claim["paper"] for claim in read_claims())
    assert re.search(rf"\| S · .* \| 1 \| .* \| {own['spiking']} \|", text)
    assert f" {own.total()} |" in text
    with Image.open(made / "docs" / "verdicts.png") as picture:
        assert picture.size == (40, 30)
    pd.testing.assert_frame_equal(pd.read_csv(made / "docs" / "numbers.csv"), pd.read_csv(RESULTS / "comparison.csv"))


def test_every_claim_has_a_verdict_or_a_line_that_says_why_not(made):
    line = "12:00:00 ERROR T5 large: the mirror m has no models/t5-large/config.json"
    write_text(FOLDERS["logs"] / "retrieve_dataset" / "t5-large.log", f"12:00:00 INFO begins\n{line}\n")
    (FOLDERS["logs"] / "other.log").write_bytes(b"\xff is no UTF-8\n")
    run = read_run(FOLDERS)
    table = claims_table(run).set_index("id")
    lacking = table["verdict"].isin(["not run", "not comparable here"])
    assert lacking.sum() > 150 and (table.loc[lacking, WHY] != "").all() and (table.loc[~lacking, WHY] == "").all()
    t5 = table[(table["paper"] == "transformers") & (table["item"] == "fig1_t5")]
    assert set(t5[WHY]) == {"T5 large: the mirror m has no models/t5-large/config.json"}
    text = page(run)
    assert "| transformers/fig1_t5 | Token similarity by layer, T5 | T5 large: the mirror" in text
    assert "| retrieve_dataset/t5-large | T5 large: the mirror" in text and "spiking/table2 |" not in text


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({"verdict": "reproduced"}, ""),
        ({"verdict": "undecided at laptop scale"}, ""),
        ({"verdict": "not run", "item": "gone"}, "no data"),
        ({"verdict": "not run", "ours": "no row 'z'"}, "the result has no row 'z'"),
        ({"verdict": "not comparable here", "threshold": "> 0"}, "includes the threshold"),
        ({"verdict": "not comparable here", "threshold": "all met", "check": "as_published"}, "another scale"),
        ({"verdict": "not comparable here", "threshold": "2 to 8", "id": "S.hours"}, "hours on a V100"),
    ],
)
def test_why_a_claim_has_no_verdict(claim, said):
    plain = dict.fromkeys(("id", "threshold", "check", "ours"), "") | {"paper": "spiking", "item": "there"}
    found = why_not(plain | claim, {("spiking", "gone"): "no data"})
    assert said in found and bool(found) == bool(said)


def test_without_a_run_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UserError, match=r"no finished laptop run: .*claims.manifest.json is not there; run 'make laptop'"
    ):
        read_run(FOLDERS)


def test_without_a_config_there_is_one_line(tmp_path):
    with pytest.raises(UserError, match="name the config of the run with --config"):
        evidence.publish(tmp_path / "laptop.yaml", tmp_path / "docs", cores=2)


@pytest.mark.parametrize("name", ["claims.csv", "spiking/table2.csv", "../../resources/laptop/cifar10/images.npz"])
def test_an_edited_file_is_refused_by_name(made, name):
    (RESULTS / name).write_text("edited")
    with pytest.raises(UserError, match=f"{Path(name).name} is not what its job wrote"):
        read_run(FOLDERS)


def test_a_result_made_after_the_verdicts_is_refused(made):
    job(RESULTS / "spiking" / "table2.manifest.json", "table_final", ["table2.csv"], seconds=1.0)
    with pytest.raises(
        UserError, match=r"table2.manifest.json was made again after .*\.manifest.json; run 'make laptop'"
    ):
        read_run(FOLDERS)


def test_a_manifest_that_is_gone_is_named(made):
    (RESULTS / "runs" / "vit" / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"runs/vit/manifest.json, from which results were made, is gone"):
        read_run(FOLDERS)


@pytest.mark.parametrize("name", ["claims.csv", "spiking/table2.csv"])
def test_a_result_that_is_gone_is_named(made, name):
    (RESULTS / name).unlink()
    with pytest.raises(UserError, match=rf"{name}, which .*manifest.json records, is gone; run 'make laptop'"):
        read_run(FOLDERS)


@pytest.mark.parametrize("commit", [f"{COMMIT}+changes", "unknown", "2" * 40])
def test_results_of_no_commit_are_refused_unless_allowed(made, commit):
    before = [RESULTS / f"{name}.manifest.json" for name in ("claims", "comparison")]
    job(RESULTS / "verdicts.manifest.json", "plot_verdicts", ["verdicts.png"], before, commit=commit)
    with pytest.raises(UserError, match=re.escape(f"from a commit of this history ({commit})")):
        read_run(FOLDERS)
    text = page(read_run(FOLDERS, allow_changes=True))
    assert f"`{COMMIT}` (5 of 6 jobs)<br>`{commit}` (1 of 6 jobs)" in text


def test_without_the_times_of_a_run_there_is_one_line(made):
    with pytest.raises(UserError, match="no job times of a run on 4 cores"):
        evidence.publish(made / "laptop.yaml", made / "docs", cores=4)


def test_evidence_too_large_to_commit_is_refused(made, monkeypatch):
    monkeypatch.setattr(evidence, "LARGEST", 1000)
    with pytest.raises(UserError, match="more than the 1,000"):
        evidence.publish(made / "laptop.yaml", made / "docs" / "evidence", cores=2)
    assert not any((made / "docs").iterdir())


def test_evidence_takes_the_place_of_what_was_published_before(made):
    write_text(made / "docs" / "old.csv", "of an earlier run")
    evidence.publish(made / "laptop.yaml", made / "docs", cores=2)
    assert (made / "docs" / "claims.csv").is_file() and not (made / "docs" / "old.csv").exists()


def test_the_command_reaches_the_manifests():
    assert launcher.COMMAND == provenance.COMMAND
    assert re.search(r"\d+ cores, \d+ GiB of memory", provenance.machine())


# The README's sentence


README = f"# title\n\n{media.VERDICTS}\nold\n\n{media.END}\nrest\n\n{media.END}"


def judged(folder: Path, counts: dict[str, int]) -> None:
    verdicts = [name for name, count in counts.items() for _ in range(count)]
    write_text(folder / "claims.csv", pd.DataFrame({"verdict": verdicts}).to_csv(index=False))
    Image.new("RGB", (4, 3)).save(folder / "verdicts.png")


def test_the_sentence_is_that_of_the_evidence_and_before_of_mini(tmp_path):
    readme, own = tmp_path / "README.md", tmp_path / media.PICTURE
    readme.write_text(README)
    media.rewrite_verdicts(readme, tmp_path)
    assert readme.read_text() == README, "nothing has been judged"

    own.parent.mkdir()
    judged(tmp_path / media.MINI, {"reproduced": 3, "held here": 2})
    media.rewrite_verdicts(readme, tmp_path)
    text = readme.read_text()
    assert "`make mini` judged 3 of 5 claims" in text and f"({media.PICTURE})" in text and own.is_file()
    assert "laptop" not in text and text.endswith(f"{media.END}\nrest\n\n{media.END}")

    judged(tmp_path / media.EVIDENCE, {name: place + 1 for place, name in enumerate(VERDICTS)})
    media.rewrite_verdicts(readme, tmp_path)
    text = " ".join(readme.read_text().split())
    assert "`make laptop` judged 15 of 78 claims" in text and "(docs/evidence/verdicts.png)" in text
    assert "**1 are reproduced, 2 are not, 9 cannot hold or contradict themselves, 3 are undecided**" in text
    assert "21 more were judged" in text and "**6 held, 7 did not, 8 are undecided**" in text
    assert "The other 42 need" in text and "9 held, 10 did not, 11 are not comparable; 12 were not run." in text
    assert not own.exists(), "one picture, not two"
