"""The launcher tells targets from option values, whatever the order of words, and repairs what Snakemake cannot do."""

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import launcher
import pytest
from launcher import rearrange
from snakemake.cli import get_argument_parser, parse_args

TARGET = "results/table2.csv"


@pytest.fixture(scope="module")
def parser():
    return get_argument_parser()


@pytest.mark.parametrize(
    ("typed", "options", "targets"),
    [
        (f"--cores 1 --resources gpu=1 {TARGET}", "--cores 1 --resources gpu=1", TARGET),
        (f"--cores 1 --resources gpu=1 mem_mb=9 {TARGET} -n", "--cores 1 --resources gpu=1 mem_mb=9 -n", TARGET),
        (f"--res gpu=1 {TARGET} other", "--res gpu=1", f"{TARGET} other"),
        (f"--resources=gpu=1 {TARGET}", "--resources=gpu=1", TARGET),
        (f"--resour gpu=1 {TARGET}", "--resour gpu=1", TARGET),
        (f"--set-thr train=2 {TARGET}", "--set-thr train=2", TARGET),
        (f"--config mirror=../data {TARGET}", "--config mirror=../data", TARGET),
        (f"-C device=cpu {TARGET} --cores 1", "-C device=cpu --cores 1", TARGET),
        (f"-nC device=cpu {TARGET}", "-nC device=cpu", TARGET),
        (f"-nj1 {TARGET}", "-nj1", TARGET),
        (f"--configfile config/mini.yaml {TARGET}", "--configfile config/mini.yaml", TARGET),
        (f"--configfile a.yaml b.json {TARGET}", "--configfile a.yaml b.json", TARGET),
        (f"--rerun-triggers mtime {TARGET}", "--rerun-triggers mtime", TARGET),
        ("--rerun-triggers mtime params --cores 1", "--rerun-triggers mtime params --cores 1", ""),
        (f"--sdm conda {TARGET}", "--sdm conda", TARGET),
        (f"--quiet {TARGET}", "--quiet", TARGET),
        (f"--rulegraph {TARGET}", "--rulegraph", TARGET),
        (f"--forcerun train_model {TARGET}", "--forcerun train_model", TARGET),
        (f"-R train_model plot_verdicts {TARGET}", "-R train_model plot_verdicts", TARGET),
        ("--forcerun results/a.csv results/b.csv", "--forcerun results/a.csv results/b.csv", ""),
        (f"--until {TARGET} emergence", f"--until {TARGET}", "emergence"),
        (f"--wait-for-files a/b c {TARGET}", f"--wait-for-files a/b c {TARGET}", ""),
        (f"--report report.html {TARGET}", "--report report.html", TARGET),
        (f"--resources gpu=1 a -- {TARGET}", "--resources gpu=1", f"a {TARGET}"),
        (f"{TARGET} --cores 1 other", "--cores 1", f"{TARGET} other"),
        (f"-s a/Snakefile -d b {TARGET}", "-s a/Snakefile -d b", TARGET),
        ("", "", ""),
    ],
)
def test_targets_are_found(parser, typed, options, targets):
    expected = [*options.split(), "--", *targets.split()] if targets else options.split()
    assert rearrange(typed.split(), parser) == expected


@pytest.mark.parametrize("typed", [f"--resources gpu=1 {TARGET}", f"--forcerun train_model {TARGET}", f"-q {TARGET}"])
def test_snakemake_reads_the_rearranged_line(parser, typed):
    assert set(parse_args(rearrange(["--cores", "1", *typed.split()], parser))[1].targets) == {TARGET}


def test_the_plain_line_is_what_snakemake_refuses():
    with pytest.raises((SystemExit, ValueError)):
        parse_args(["--cores", "1", "--resources", "gpu=1", TARGET])


class File(str):
    def __new__(cls, name: str, *, there: bool):
        file = super().__new__(cls, name)
        file.there, file.flags = there, {"report": True}
        return file

    async def exists(self) -> bool:
        return self.there


def test_a_report_shows_the_files_that_are_there():
    made, missing, lost = File("a.png", there=True), File("b.png", there=False), File("c.png", there=False)
    jobs = [SimpleNamespace(input=[], output=[made, lost]), SimpleNamespace(input=[], output=[missing])]
    dag = asyncio.run(launcher.present(SimpleNamespace(jobs=jobs, workflow="of the plan")))
    assert dag.jobs == jobs[:1] and dag.workflow == "of the plan"
    assert "report" in made.flags and "report" not in lost.flags


def test_python_is_quoted_for_the_shell(monkeypatch):
    for place in ("report.auto_report", "script.PythonScript.get_preamble", "dag.DAG.check_output_mtime"):
        monkeypatch.setattr(f"snakemake.{place}", lambda *_: "# preamble")
    monkeypatch.setattr(launcher, "name_owners", lambda persistence: None)
    monkeypatch.setattr(sys, "executable", "/envs/of Zoë/bin/python")
    launcher.put_right()
    assert sys.executable == "'/envs/of Zoë/bin/python'"


def test_a_plan_that_is_made_again_is_the_same_command_in_the_same_folder(monkeypatch, tmp_path):
    def plan() -> None:
        os.chdir("/")  # as --directory does
        raise launcher.PlanAgain

    calls = []
    monkeypatch.setattr("snakemake.cli.main", plan)
    monkeypatch.setattr(launcher, "put_right", lambda: None)
    monkeypatch.setattr(sys, "argv", ["snakemake", "--directory", "/"])
    monkeypatch.setattr(os, "execvp", lambda program, words: calls.append((Path.cwd(), program, words)))
    monkeypatch.chdir(tmp_path)
    launcher.main()
    assert calls == [(tmp_path, sys.orig_argv[0], sys.orig_argv)]
