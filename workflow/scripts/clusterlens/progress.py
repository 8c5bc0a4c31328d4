"""How long a run will take and how much of it is left, from what its jobs took in the published run.

The seconds of a job are those of all its cores together: they stay about the same on however many it runs.
"""

import csv
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median

from clusterlens import pace
from clusterlens.files import read_json
from clusterlens.logs import duration
from clusterlens.provenance import LAPTOP, ROOT

EVIDENCE = ROOT / "docs" / "evidence"
Job = tuple[str, int]  # its kind and its threads
TRUST = 300  # seconds of finished jobs after which they weigh as much as the measurement made before the run


def kind(rule: str, wildcards: dict[str, str]) -> str:
    """The name of a job without its seed: jobs of one kind take the same time."""
    parts = (re.sub(r"_?seed\d+", "", value) for name, value in wildcards.items() if name != "seed")
    return " ".join(filter(None, [rule, *parts]))


def read_seconds(path: Path) -> dict[str, float]:
    """Median seconds of a job of each kind, since a resumed job has less to do; a line per job or a line per kind."""
    found: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["job"], []).append(float(row["seconds"]))
    return {job: median(times) for job, times in found.items()}


class Progress:
    """The jobs of one run.

    expected   seconds of a job by its kind, on the machine of the published run
    slowness   how much longer this machine takes, measured before the run; the jobs that finish correct it
    cores      how many there are for all jobs
    record     file that gets a line with the seconds of each finished job
    """

    def __init__(
        self,
        expected: dict[str, float],
        record: Path,
        *,
        cores: int,
        slowness: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.expected, self.record, self.cores, self.slowness, self.clock = expected, record, cores, slowness, clock
        self.waiting: dict[int, Job] = {}
        self.running: dict[int, tuple[Job, float]] = {}
        self.taken = self.foreseen = 0.0  # by finished jobs

    def plan(self, jobs: dict[int, Job]) -> None:
        """The jobs of the run by their ids."""
        self.waiting = dict(jobs)

    def start(self, job: int) -> None:
        if job in self.waiting:
            self.running[job] = self.waiting.pop(job), self.clock()

    def finish(self, job: int) -> None:
        if job not in self.running:
            return
        (name, threads), started = self.running.pop(job)
        seconds = self.spent(threads, started)
        self.taken += seconds if name in self.expected else 0.0
        self.foreseen += self.expected.get(name, 0.0)
        with suppress(OSError):  # a record that cannot be kept stops no run
            self.write(name, seconds)

    def spent(self, threads: int, started: float) -> float:
        return threads * (self.clock() - started)

    def write(self, name: str, seconds: float) -> None:
        self.record.parent.mkdir(parents=True, exist_ok=True)
        new = not self.record.exists()
        with self.record.open("a", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerows([["job", "seconds"]] if new else [])
            lines.writerow([name, f"{seconds:.1f}"])

    def left(self) -> str:
        """The time until the end, if all cores stay busy; empty where nothing is known of the jobs that are left."""
        slowness = (self.taken + TRUST * self.slowness) / (self.foreseen + TRUST)
        ahead = [slowness * self.expected.get(name, 0.0) for name, _ in self.waiting.values()]
        for (name, threads), started in self.running.values():
            ahead.append(max(0.0, slowness * self.expected.get(name, 0.0) - self.spent(threads, started)))
        return f"about {duration(sum(ahead) / self.cores)}" if sum(ahead) else ""


def of_run(config: dict, cores: int, evidence: Path = EVIDENCE) -> Progress | None:
    """The progress of a run at laptop scale, from the published times and the pace that `make laptop` measured."""
    if config["scale"] != LAPTOP:
        return None
    record = Path(config["pathvars"]["logs"]) / "seconds.csv"
    if not (evidence / "seconds.csv").is_file():
        return Progress({}, record, cores=cores)
    there, here = read_json(evidence / "machine.json"), pace.remembered(config, cores)
    by_core = there["images_per_second"] / there["cores"]
    slowness = by_core / (here["images_per_second"] / cores) if here else 1.0
    return Progress(read_seconds(evidence / "seconds.csv"), record, cores=cores, slowness=slowness)
