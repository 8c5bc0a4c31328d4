"""Data through the rules: what the mirror holds is prepared, what it lacks costs one line and stops nothing else."""

import hashlib
import json


def test_a_mirror_that_lacks_something(snakemake, checkout):
    table = "oldpeak,thalach,cp,target,age\n" + "".join(f"{n}.5,{150 - n},{n % 4},{n % 2},60\n" for n in range(20))
    (checkout / "mirror" / "heart").mkdir(parents=True)
    (checkout / "mirror" / "heart" / "heart.csv").write_text(table)
    (checkout / "mirror" / "SHA256SUMS").write_text(
        f"{hashlib.sha256(table.encode()).hexdigest()}  ./heart/heart.csv\n"
    )
    wanted = [f"resources/{name}/manifest.json" for name in ("t5-large", "picture", "heart")]

    settings = ("mirror=mirror", "data={picture: {source: mirror}}")
    run = snakemake("--cores", "2", *wanted, "--config", *settings, folder=checkout)

    assert run.returncode != 0
    lines = [line for line in run.stderr.splitlines() if line.startswith("clusterlens: ")]
    assert len(lines) == 2
    picture, t5 = sorted(lines, key=lambda line: "T5" in line)
    assert "mirror has no picture/picture.png" in picture and "data/picture/source" in picture
    assert "mirror has no models/t5-large/config.json" in t5 and "copy resources/t5-large/raw" in t5

    manifest = json.loads((checkout / "resources" / "heart" / "manifest.json").read_text())
    assert manifest["source"] == "mirror" and manifest["sample"] == {"0": 10, "1": 10}
    label = "a subset of the heart disease table (Lapp 2019) (rows 20 of 1,025)"
    assert manifest["stand_ins"] == [{"dataset": "heart", "label": label, "kind": "real"}]
    assert (checkout / "resources" / "heart" / "table.csv").read_text().startswith("oldpeak,thalach,cp,target\n")
    assert not [path for path in (checkout / "resources").glob("*/raw*") if path.parent.name != "heart"]

    forgotten = snakemake("--cores", "1", wanted[2], "--config", "data={heart: {source: mirror}}", folder=checkout)
    assert forgotten.returncode != 0 and "its source is the mirror alone" in forgotten.stderr
    assert (checkout / "resources" / "heart" / "raw" / "heart.csv").read_text() == table


def test_own_table_that_is_edited_is_prepared_again(snakemake, checkout):
    own = checkout / "own.csv"
    own.write_text("height,weight,age,outcome\n" + "".join(f"{n},{n + 1},{n + 2},{n % 2}\n" for n in range(8)))
    settings = "source: file, files: {table: own.csv}, features: [height, weight, age], label: outcome"
    words = ("--cores", "1", "resources/heart/manifest.json", "--config", f"data={{heart: {{{settings}}}}}")
    assert snakemake(*words, folder=checkout).returncode == 0
    assert "Nothing to be done" in snakemake(*words, folder=checkout).stderr
    own.write_text("height,weight,age,outcome\n1,2,3,yes\n4,5,6,yes\n")
    run = snakemake(*words, folder=checkout)
    assert run.returncode != 0
    assert [line for line in run.stderr.splitlines() if line.startswith("clusterlens: ")] == [
        "clusterlens: the heart disease table (Lapp 2019): label 'outcome' has 1 class (yes); exactly two are needed"
    ]
