"""The environment is built once, and anew only when the lock changes."""

import environment
import pytest


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """The `clear` flag of every build, with a lock and a launcher that a test may edit."""
    calls = []

    def install_packages(folder, *, clear):
        calls.append(clear)
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin" / "snakemake").write_text("Snakemake's own command")

    monkeypatch.setattr(environment, "install_packages", install_packages)
    for name in ("LOCK", "LAUNCHER"):
        file = tmp_path / name
        file.write_text("numpy==2.0\n")
        monkeypatch.setattr(environment, name, file)
    monkeypatch.setattr("sys.argv", ["environment.py", str(tmp_path / "venv")])
    return calls


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


def test_a_changed_launcher_is_put_in_place_without_a_build(builds, tmp_path):
    environment.main()
    environment.LAUNCHER.write_text("print('new')\n")
    environment.main()
    assert builds == [False]
    assert (tmp_path / "venv" / "bin" / "snakemake").read_text().endswith("bin/python\nprint('new')\n")


def test_another_python_is_refused_in_one_line(builds, monkeypatch):
    monkeypatch.setattr("sys.version_info", (3, 12, 0))
    with pytest.raises(SystemExit) as refusal:
        environment.main()
    assert "Python 3.11 is needed" in str(refusal.value) and "\n" not in str(refusal.value)
