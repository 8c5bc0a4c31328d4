"""The workflow in other folders, under names with spaces and accents, as a module, and how a failure ends."""

import json
import os
import signal
import site
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

TABLE = "attention_clusters/table2"
PARENT = """
module lens:
    snakefile: "{clone}/Snakefile"
    config: {{"scale": "mini", "device": "cpu"}}
    prefix: "lens"

use rule * from lens as lens_*

rule everything:
    default_target: True
    input: "lens/results/attention_clusters/table2.csv", "lens/results/attention_clusters/sensitivity.png"
"""


@pytest.fixture(scope="module")
def clone(make_checkout, tmp_path_factory) -> Path:
    return make_checkout(tmp_path_factory.mktemp("the clone of Zoë"))


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The packages of this environment, in one whose path the shell would break up."""
    folder = tmp_path_factory.mktemp("Zoë's envs") / "of 2026"
    venv.create(folder, symlinks=True)
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (packages / "shared.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def call(clone, python):
    """Run the clone's launcher in another folder."""

    def call(*words: str, folder: Path) -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [python, clone / "tools" / "launcher.py", "--cores", "1", *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=300)

    return call


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def elsewhere(call, clone, tmp_path_factory) -> Path:
    """A working folder after one item has been made in it with the clone's workflow."""
    folder, start = tmp_path_factory.mktemp("my work"), tmp_path_factory.mktemp("start")
    before = files(clone)
    words = ("-s", f"{clone}/Snakefile", "--configfile", f"{clone}/config/mini.yaml", "--directory", str(folder))
    run = call(*words, "--config", "device=cpu", f"results/mini/{TABLE}.csv", folder=start)
    assert run.returncode == 0, run.stderr
    assert files(clone) == before, "something was written into the checkout, which may be read-only"
    assert not files(start)
    return folder


def test_results_go_to_the_working_folder(elsewhere):
    assert (elsewhere / f"results/mini/{TABLE}.csv").is_file()
    assert (elsewhere / f"results/mini/{TABLE}.manifest.json").is_file()


def test_a_report_shows_what_is_there(elsewhere, clone, call):
    words = ("-s", f"{clone}/Snakefile", "--configfile", f"{clone}/config/mini.yaml", "--report", "report.html")
    run = call(*words, folder=elsewhere)
    assert run.returncode == 0, run.stderr
    assert "Missing metadata" not in run.stderr
    assert "table2.csv" in (elsewhere / "report.html").read_text(encoding="utf-8")


def test_as_a_module_of_another_workflow(call, clone, tmp_path):
    (tmp_path / "Snakefile").write_text(PARENT.format(clone=clone), encoding="utf-8")
    run = call("--until", "lens_table_language_configuration", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    manifest = json.loads((tmp_path / f"lens/results/{TABLE}.manifest.json").read_text(encoding="utf-8"))
    assert manifest["rule"] == "lens_table_language_configuration" and manifest["scale"] == "paper"


def break_script(clone: Path, folder: Path, body: str) -> tuple[str, ...]:
    """Let the script behind the table run `body` instead, and return the words that run it."""
    script = clone / "workflow" / "scripts" / "table_configuration.py"
    script.write_text(f"from clusterlens import job\n\ndef main(smk):\n    {body}\n\njob.run(main, snakemake)\n")
    words = ("-s", f"{clone}/Snakefile", "--configfile", f"{clone}/config/mini.yaml", "--directory", str(folder))
    return (*words, "--", f"results/mini/{TABLE}.csv")


def test_an_internal_error_is_the_last_line(call, clone, tmp_path):
    run = call(*break_script(clone, tmp_path, "smk.nonsense"), folder=tmp_path)
    assert run.returncode == 1
    log = next((tmp_path / "logs").rglob("*.log"))
    rule = log.read_text().split()[2]
    assert run.stderr.splitlines()[-1] == f"clusterlens: internal error in {rule}, see {log.relative_to(tmp_path)}"
    assert "Traceback" not in run.stderr and "AttributeError" in log.read_text()


def test_an_interrupt_is_quiet(python, clone, tmp_path):
    words = break_script(clone, tmp_path, "open('started', 'w').close(); import time; time.sleep(100)")
    command = [python, clone / "tools" / "launcher.py", "--cores", "1", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "started").exists():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGINT)
    shown = run.communicate(timeout=60)[1]
    assert run.returncode != 0 and "Traceback" not in shown and "Error in rule" not in shown
    assert shown.splitlines()[-1] == "clusterlens: stopped; the same command resumes"
