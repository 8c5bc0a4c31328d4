"""What the screen shows of a run: Snakemake's messages with short lists of files, and last what failed and why."""

import atexit
import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

from clusterlens.damage import PLACES
from clusterlens.logs import has_begun, internal_error, killed, last_error
from clusterlens.progress import Job, Progress, kind

LISTED = 3  # files named in a message before the rest is counted
Jobs = Callable[[], dict[int, Job]]
HEARD = 0.5  # seconds in which Snakemake hears of an interrupt that has already ended a job


class Screen(logging.Filter):
    """A filter on Snakemake's messages."""

    def __init__(self, targets: Iterable[str], progress: Progress | None = None, jobs: Jobs = dict):
        """`jobs` gives every planned job by its id, for `progress`."""
        super().__init__()
        self.progress, self.jobs = progress, jobs
        self.targets = [*targets]
        self.started = time.time() - 2  # some file systems keep whole seconds only
        self.failed: dict[int, str] = {}
        self.interrupted = threading.Event()

    def watch(self) -> None:
        """See every message from now on."""
        logging.getLogger("snakemake.logging").addFilter(self)

    def filter(self, record: Any) -> bool:
        """Snakemake hangs what it says on the record as attributes."""
        event = getattr(record, "event", None)
        if self.progress:
            self.follow(self.progress, event, record)
        if event in (LogEvent.JOB_ERROR, LogEvent.JOB_INFO):
            record.input, record.output = shortened(record.input), shortened(record.output)
        if event == LogEvent.JOB_INFO:
            record.reason = shortened_reason(str(record.reason))
        if event == LogEvent.JOB_ERROR:
            self.interrupted.wait(HEARD)
            self.failed[record.jobid] = self.failure(record.rule_name, record.log)
        elif event == LogEvent.JOB_FINISHED:
            self.failed.pop(record.job_id, None)
        elif event == LogEvent.ERROR:
            record.msg += self.hint(record.msg) if record.exception == "MissingRuleException" else refused(record.msg)
        elif str(record.msg).startswith("Terminating processes on user request"):
            self.interrupted.set()
        return not (self.interrupted.is_set() and event in (LogEvent.JOB_ERROR, LogEvent.ERROR))

    def follow(self, progress: Progress, event: LogEvent | None, record: Any) -> None:
        """Say at the start how long the run will take, and after every job how much is left."""
        if event == LogEvent.RUN_INFO:
            progress.plan(self.jobs())
            record.msg += f"\nclusterlens: this will take {left} on this machine" if (left := progress.left()) else ""
        elif event == LogEvent.JOB_INFO:
            progress.start(record.jobid)
        elif event == LogEvent.JOB_FINISHED:
            progress.finish(record.job_id)
        elif event == LogEvent.PROGRESS and (left := progress.left()):
            record.event, record.msg = None, f"{record.done} of {record.total} steps done, {left} left"

    def failure(self, rule: str, logs: list[str]) -> str:
        """Why a job failed: the last error of its log; where a log of ours has none, the job was killed."""
        fresh = [path for path in map(Path, logs) if path.is_file() and path.stat().st_mtime >= self.started]
        if not fresh:
            return internal_error(rule, None)
        return last_error(fresh[0]) or (killed if has_begun(fresh[0]) else internal_error)(rule, fresh[0])

    def hint(self, message: str) -> str:
        """A line for a target that no rule makes."""
        asked = re.search(r"No rule to produce (.+?)(?: \(if you use|$)", message)
        close = get_close_matches(asked[1], self.targets, n=1, cutoff=0.6) if asked else []
        meant = f"did you mean '{close[0]}'?" if close else "'make targets' lists what can be made"
        return f"\nclusterlens: no target '{asked[1]}': {meant}" if asked else ""

    def end(self) -> None:
        """Called when a run has failed: the reasons become the last lines on the screen."""
        lines = (
            ["stopped; the same command resumes"] if self.interrupted.is_set() else dict.fromkeys(self.failed.values())
        )
        for line in reversed([*lines]):
            atexit.register(print, f"clusterlens: {line}", file=sys.stderr)


def refused(message: str) -> str:
    """A line for what the disk refused Snakemake itself, such as the folder of an output."""
    found = re.search(r"\[Errno (\d+)\] [^:]+: '(.+?)'", message)
    reason = PLACES.get(int(found[1])) if found else None
    return f"\nclusterlens: {found[2]}: {reason}" if found and reason else ""


def shortened(files: list[str]) -> list[str]:
    """The first few of a list of files, and how many more there are."""
    more = len(files) - LISTED
    return [*files[:LISTED], f"and {more} more"] if more > 0 else files


def shortened_reason(text: str) -> str:
    """`Why: files; why: files`, with short lists."""
    parts = (part.partition(": ") for part in text.split("; "))
    return "; ".join(why + colon + ", ".join(shortened(files.split(", "))) for why, colon, files in parts)


def planned(workflow) -> dict[int, Job]:
    """Every job that Snakemake is going to run, by its id."""
    jobs = workflow.dag.needrun_jobs()
    return {
        workflow.dag.jobid(job): (kind(job.rule.name, dict(job.wildcards.items())), int(job.threads)) for job in jobs
    }


class Placeholders:
    """Any wildcard as `<name>`."""

    def __getattr__(self, name: str) -> str:
        return f"<{name}>"


def describe(rules: Iterable) -> None:
    """Give each rule without a description its message as one, for `snakemake --list`."""
    for rule in rules:
        if rule.message and not rule.docstring:
            text = rule.message.format(input=rule.input, output=rule.output, wildcards=Placeholders())
            rule.docstring = re.sub(r"\{(\w+)[^{}]*\}", r"<\1>", text)
