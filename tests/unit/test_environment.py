"""The environment is built once, and anew only when the lock changes."""

import re
import shlex
import subprocess
import venv
from pathlib import Path

import environment
import pytest

ROOT = Path(environment.__file__).parents[1]


FOLDER = "of Zoë's"


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """The `clear` flag of every build, with a lock and a launcher that a test may edit."""
    calls = []

    def install_packages(folder, *, clear):
        calls.append(clear)
        venv.create(folder, symlinks=True)
        (folder / "bin" / "snakemake").write_text("Snakemake's own command")

    monkeypatch.setattr(environment, "install_packages", install_packages)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(environment, "TOOLS", tmp_path / "tools")
    environment.LOCK.write_text("numpy==2.0\n")
    environment.TOOLS.mkdir()
    (environment.TOOLS / "launcher.py").write_text("import slurm_jobs")
    (environment.TOOLS / "slurm_jobs.py").write_text("import sys; print(sys.prefix, sys.argv[1:])\n")
    monkeypatch.setattr("sys.argv", ["environment.py", str(tmp_path / FOLDER)])
    return calls


def answer(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def test_a_second_call_does_nothing(builds):
    environment.main()
    environment.main()
    assert builds == [False]


def test_a_changed_lock_builds_anew(builds):
    environment.main()
    environment.LOCK.write_text("numpy==2.1\n")
    environment.main()
    assert builds == [False, True]


def test_an_interrupted_build_goes_on_with_what_is_there(builds, monkeypatch):
    whole = environment.install_packages
    monkeypatch.setattr(environment, "install_packages", lambda folder, clear: exit(1))
    with pytest.raises(SystemExit):
        environment.main()
    monkeypatch.setattr(environment, "install_packages", whole)
    environment.main()
    assert builds == [False]


def test_the_command_works_in_a_folder_of_any_name(builds, tmp_path):
    environment.main()
    command = tmp_path / FOLDER / "bin" / "snakemake"
    (tmp_path / "linked").symlink_to(command)
    for called in (command, tmp_path / "linked"):
        assert answer(called, "-n", "two words") == f"{tmp_path / FOLDER} ['-n', 'two words']"


def test_a_changed_launcher_is_put_in_place_without_a_build(builds, tmp_path):
    environment.main()
    (environment.TOOLS / "slurm_jobs.py").write_text("print('new module')\n")
    environment.main()
    assert builds == [False]
    assert answer(tmp_path / FOLDER / "bin" / "snakemake") == "new module"


def test_a_moved_environment_is_used_where_it_is(builds, tmp_path, monkeypatch):
    environment.main()
    moved = tmp_path / "moved here"
    (tmp_path / FOLDER).rename(moved)
    monkeypatch.setattr("sys.argv", ["environment.py", str(moved)])
    environment.main()
    assert builds == [False]
    activate = f'. "{moved}/bin/activate"; command -v snakemake; python -c "import sys; print(sys.prefix)"'
    assert answer("bash", "-c", activate).splitlines() == [f"{moved}/bin/snakemake", str(moved)]


def test_two_clones_share_a_folder_by_different_paths(builds, tmp_path, monkeypatch):
    environment.main()
    (tmp_path / "other").symlink_to(tmp_path / FOLDER)
    before = (tmp_path / FOLDER / "bin" / "snakemake").stat().st_ino
    for path in (tmp_path / "other", tmp_path / "no" / ".." / FOLDER):
        monkeypatch.setattr("sys.argv", ["environment.py", str(path)])
        environment.main()
    assert builds == [False] and (tmp_path / FOLDER / "bin" / "snakemake").stat().st_ino == before
    assert len([*tmp_path.glob(".*.building")]) == 1


def test_an_environment_whose_python_is_gone_is_built_anew(builds, tmp_path):
    environment.main()
    for name in ("python", "python3", "python3.11"):
        (tmp_path / FOLDER / "bin" / name).unlink()
    environment.main()
    assert builds == [False, True]


def test_another_python_is_refused_in_one_line(builds, monkeypatch):
    monkeypatch.setattr("sys.version_info", (3, 12, 0))
    with pytest.raises(SystemExit) as refusal:
        environment.main()
    assert "Python 3.11 is needed" in str(refusal.value) and "\n" not in str(refusal.value)


def test_without_a_python_make_says_what_to_do():
    command = ["make", "--no-print-directory", "setup", "PYTHON=no-such-python"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode and not run.stdout
    told = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert told == [
        "clusterlens: no no-such-python here: install Python 3.11, or name one with make PYTHON=<path of python3.11>"
    ]


def test_make_help_lists_what_can_be_made():
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = [line.split(maxsplit=2) for line in answer("make", "help").splitlines() if line.startswith("make ")]
    assert [name for _, name, _ in listed] == phony[1].split()
    assert all(text for _, _, text in listed)


def test_make_quotes_the_folder_of_the_environment():
    goals = (
        "mini",
        "laptop",
        "targets",
        "test",
        "test-whole",
        "test-browser",
        "test-slurm",
        "test-faults",
        "bench",
        "lint",
        "evidence",
        "docs",
    )
    lines = answer("make", "-n", *goals, f"VENV={FOLDER}").replace("\\\n", "").splitlines()
    words = [word for line in lines for word in shlex.split(line) if "Zoë" in word]
    assert len(words) > len(goals) and {*words} == {FOLDER, f"{FOLDER}/bin/python"}
