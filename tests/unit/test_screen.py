"""What the screen shows of a run that fails, and of targets that do not exist."""

import errno
import logging
from types import SimpleNamespace

import pytest
from snakemake.exceptions import MissingRuleException, WorkflowError, print_exception
from snakemake.logging import DefaultFormatter, logger
from snakemake_interface_logger_plugins.common import LogEvent

from clusterlens import screen as module
from clusterlens.logs import killed
from clusterlens.screen import Screen, describe


@pytest.fixture
def screen(monkeypatch):
    """A screen over Snakemake's own logger and formatter; `seen` holds what a user sees."""
    screen = Screen(["results/table2.csv", "results/transformers/fig4.png", "emergence"])
    screen.seen = []
    handler = logging.Handler()
    handler.emit = lambda record: screen.seen.append(DefaultFormatter().format(record))
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(logger, "level", logging.INFO)
    at_exit = SimpleNamespace(register=lambda show, line, file: screen.seen.append(line))
    monkeypatch.setattr(module, "atexit", at_exit)
    screen.watch()
    return screen


def fail(log: str = "", *, jobid: int = 1, rule: str = "train_model") -> None:
    """What Snakemake logs of a failed job with many inputs."""
    facts = {"rule_name": rule, "rule_msg": None, "jobid": jobid, "input": [f"in{n}.csv" for n in range(23)]}
    facts |= {"output": ["out.csv"], "log": [log] if log else [], "conda_env": None, "shellcmd": None, "aux": {}}
    logger.error(f"Error in rule {rule}", extra=facts | {"event": LogEvent.JOB_ERROR})


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("results/tabel2.csv", "did you mean 'results/table2.csv'?"),
        ("results/transformers/fig4.svg", "did you mean 'results/transformers/fig4.png'?"),
        ("emergance", "did you mean 'emergence'?"),
        ("results/of Zoë/table2.csv", "did you mean 'results/table2.csv'?"),
        ("zzz", "'make targets' lists what can be made"),
    ],
)
def test_an_unknown_target_gets_a_hint(screen, asked, hint):
    print_exception(MissingRuleException(asked))
    assert screen.seen[-1].splitlines()[-1] == f"clusterlens: no target '{asked}': {hint}"


def test_what_the_disk_refuses_snakemake_itself_comes_with_what_to_do(screen):
    refusal = OSError(errno.EROFS, "Read-only file system", "results/runs")
    print_exception(WorkflowError("Failed to create output directory results/runs.", refusal))
    assert screen.seen[-1].splitlines()[-1] == (
        "clusterlens: results/runs: the disk cannot be written to: choose other folders in pathvars"
    )


def test_long_lists_of_files_are_counted(screen):
    fail()
    assert "    input: in0.csv, in1.csv, in2.csv, and 20 more" in screen.seen[0].splitlines()
    facts = {"rule_msg": "Judging", "jobid": 1, "input": [], "output": [], "event": LogEvent.JOB_INFO}
    logger.info("Judging", extra=facts | {"reason": "Forced execution; Missing output files: a, b, c, d, e"})
    assert screen.seen[1].splitlines()[-1] == "Reason: Forced execution; Missing output files: a, b, c, and 2 more"


def test_the_last_lines_say_what_failed(screen, tmp_path):
    logs = {"user": "12:00:00 ERROR no column 'bmi'\n", "died": "12:00:00 INFO commit\n", "shell": "cp: no such file\n"}
    for name, text in logs.items():
        (tmp_path / f"{name}.log").write_text(text)
    fail(f"{tmp_path}/user.log", jobid=1)
    fail(f"{tmp_path}/died.log", jobid=2)
    fail(f"{tmp_path}/never_written.log", jobid=3, rule="probe_heads")
    fail(f"{tmp_path}/shell.log", jobid=5, rule="alias_spiking")
    fail(f"{tmp_path}/again.log", jobid=4)
    logger.info("Finished", extra={"event": LogEvent.JOB_FINISHED, "job_id": 4})
    screen.end()
    assert sorted(screen.seen[-4:]) == [
        f"clusterlens: internal error in alias_spiking, see {tmp_path}/shell.log",
        "clusterlens: internal error in probe_heads, see above",
        "clusterlens: no column 'bmi'",
        f"clusterlens: {killed('train_model', tmp_path / 'died.log')}",
    ]


def test_an_interrupt_is_quiet(screen):
    logger.info("Terminating processes on user request, this might take some time.")
    fail()
    print_exception(WorkflowError("At least one job did not complete successfully."))
    screen.end()
    assert screen.seen[1:] == ["clusterlens: stopped; the same command resumes"]


def test_a_rule_is_described_by_its_message():
    paths = SimpleNamespace(page=r"results/{item,(a|b)\d}.html")
    rules = [
        SimpleNamespace(message="Drawing {wildcards.item} to {output.page}", docstring="", input=(), output=paths),
        SimpleNamespace(message="Drawing", docstring="All figures", input=(), output=()),
        SimpleNamespace(message=None, docstring=None, input=(), output=()),
    ]
    describe(rules)
    assert [rule.docstring for rule in rules] == ["Drawing <item> to results/<item>.html", "All figures", None]
