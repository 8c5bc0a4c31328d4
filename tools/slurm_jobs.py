"""SLURM jobs outlive a Snakemake that is killed: the next one cancels those that make its files before it submits anew.

The name of a job holds a mark: the folder of the Snakemake that submitted it, and which one that was. A file for each
job lists what it makes.
"""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

PATIENCE = 300  # seconds until cancelled jobs must have ended; SLURM gives them 30, and a busy node some more
PAUSE = 1.0
LISTED = 5  # jobs named in a message before the rest is counted
LONGEST_PREFIX = 50  # characters that the executor allows before its own part of a job's name


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def folder_mark(folder: Path) -> str:
    return f"clusterlens-{digest(str(folder.resolve()))}"


def mark(folder: Path, process: dict) -> str:
    """What the names of all jobs of one Snakemake share."""
    return f"{folder_mark(folder)}-{digest(json.dumps(process))}"


def name_jobs(settings, folder: Path, process: dict) -> None:
    """Put the mark behind the user's own prefix, if there is one, in the executor's settings."""
    parts = filter(None, (settings.jobname_prefix, mark(folder, process)))
    settings.jobname_prefix = "_".join(parts)[-LONGEST_PREFIX:]


def record(folder: Path, job: str) -> Path:
    """The file that lists what a job makes; several rules may share the job."""
    return folder / "slurm_jobs" / job


def remember(folder: Path, job: str, files: Iterable[str]) -> None:
    file = record(folder, job)
    file.parent.mkdir(exist_ok=True)
    with open(file, "a") as lines:
        lines.writelines(f"{name}\n" for name in files)


def queued(folder: Path) -> dict[str, str]:
    """The jobs of all Snakemakes of this folder that wait, run or are just ending, with their names."""
    command = ["squeue", "--me", "--array", "--noheader", "--format=%i %j"]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        why = [str(error), *(getattr(error, "stderr", None) or "").strip().splitlines()][-1]
        sys.exit(f"clusterlens: squeue failed ({why}): run the same command again once 'squeue --me' works")
    jobs = (line.strip().partition(" ") for line in told.splitlines())
    return {job: name for job, _, name in jobs if folder_mark(folder) in name}


def end_survivors(folder: Path, owners: Callable[[], Iterable[dict]], files: set[str]) -> bool:
    """Cancel the jobs of Snakemakes that are gone and that make any of `files`, until they have ended; were there any?

    A Snakemake holds its lock as long as it has jobs, so that one without a lock is gone. The queue is read before the
    locks: a Snakemake that starts meanwhile is then seen by its lock, or its jobs are not seen at all.
    """
    records = [*record(folder, "").glob("*")]  # before the queue is read: the job of a later one is not in `found`
    found = queued(folder)
    for file in records:
        if file.name not in found:
            file.unlink(missing_ok=True)
    living = [mark(folder, process) for process in owners()]
    orphans = [job for job, name in found.items() if not any(owner in name for owner in living)]
    left = {job for job in orphans if may_make(record(folder, job), files)}
    if not left:
        return False
    said = f"SLURM still has jobs of a Snakemake that is gone ({listing(left)}): cancelled, to be submitted again"
    print(f"clusterlens: {said}", file=sys.stderr)
    subprocess.run(["scancel", *left], capture_output=True)  # complains about jobs that have just ended
    end = time.monotonic() + PATIENCE
    while left := left & queued(folder).keys():
        if time.monotonic() > end:
            sys.exit(
                f"clusterlens: SLURM has not ended its jobs {listing(left)}: run the same command again once"
                " 'squeue --me' no longer lists them"
            )
        time.sleep(PAUSE)
    return True


def listing(jobs: set[str]) -> str:
    """The first few, and how many more there are."""
    first = sorted(jobs)[:LISTED]
    return ", ".join(first) + (f" and {len(jobs) - LISTED} more" if len(jobs) > LISTED else "")


def may_make(listed: Path, files: set[str]) -> bool:
    """Whether a job makes any of `files`; one without a list, killed as it was submitted, may make all."""
    return not listed.exists() or not files.isdisjoint(listed.read_text().splitlines())
