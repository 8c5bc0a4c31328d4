"""The `snakemake` command of the project's environment: Snakemake itself, with seven things put right.

- Targets are told from option values. Snakemake's parser lets `--resources`, `--forcerun` and their like take every
  word that follows, so that `snakemake --cores 1 --resources gpu=1 results/table2.csv` fails.
- The folder of the environment may have any name: Snakemake puts the path of Python into shell commands unquoted.
- A report shows the files that are there instead of failing at the first that is not.
- Ctrl-C stops jobs without a traceback for each, and jobs end when Snakemake is killed.
- Locks name their owner. The lock of a Snakemake that was killed is removed, that of a living one is explained, and of
  two that start at once only one gets it.
- SLURM jobs that a killed Snakemake has left do not run a second time beside themselves.
- A clock that was set back costs no result.
"""

import argparse
import fcntl
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import slurm_jobs

CONFIG_FILES = (".yaml", ".yml", ".json")
OWNER = "# owner "  # opens the first line of a lock file; the lines that follow are the files that it locks
COMMAND = "CLUSTERLENS_COMMAND"  # the environment variable from which manifests take what the user typed
PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends
ON_LINUX = f"import ctypes; ctypes.CDLL(None).prctl({PR_SET_PDEATHSIG}, signal.SIGKILL);"
FOLLOW = ON_LINUX if sys.platform == "linux" else ""


def is_value(option: argparse.Action, word: str, taken: list[str]) -> bool:
    """Whether `word` can be a value of an option that has taken those before it."""
    if option.nargs not in ("?", "*", "+"):
        return len(taken) < (1 if option.nargs is None else int(option.nargs))
    if option.nargs == "?" and taken:
        return False
    if option.choices:
        return word in map(str, option.choices)
    if "=" in str(option.metavar):
        return "=" in word
    if option.dest == "configfile":
        return word.endswith(CONFIG_FILES)
    return option.metavar == "FILE" or not taken or names_file(word) == names_file(taken[0])


def names_file(word: str) -> bool:
    """A file, not a rule. Options such as --forcerun take either, and what follows of the other kind is a target."""
    return "/" in word or "." in word


def read_option(word: str, parser: argparse.ArgumentParser) -> tuple[argparse.Action | None, str | None] | None:
    """The option that a word names and the value that it holds, as argparse reads them; None for any other word.

    Options may be shortened, and several letters may share one dash.
    """
    found = parser._parse_optional(word)
    while found and found[0] and found[0].nargs == 0 and found[2] and not word.startswith("--"):
        found = parser._parse_optional(f"-{found[2]}")
    return found and (found[0], found[2])


def rearrange(words: list[str], parser: argparse.ArgumentParser) -> list[str]:
    """The same command line with all targets at its end, behind `--`."""
    end = words.index("--") if "--" in words else len(words)
    kept: list[str] = []
    targets: list[str] = []
    option: argparse.Action | None = None
    taken: list[str] = []
    for word in words[:end]:
        if named := read_option(word, parser):
            option, taken = named[0] if named[1] is None else None, []
            kept.append(word)
        elif option and is_value(option, word, taken):
            taken.append(word)
            kept.append(word)
        else:
            targets.append(word)
    targets += words[end + 1 :]
    return [*kept, "--", *targets] if targets else kept


class Present:
    """A plan without the jobs that have made nothing yet, for the report."""

    def __init__(self, dag, jobs: list):
        self.dag, self.jobs = dag, jobs

    def __getattr__(self, name: str):
        return getattr(self.dag, name)


async def present(dag) -> Present:
    """What a report can show of the plan; of the other jobs' files, those that are missing lose their mark."""
    jobs = [job for job in dag.jobs if any([await file.exists() for file in job.output])]
    for job in jobs:
        for file in (*job.output, *job.input):
            if "report" in file.flags and not await file.exists():
                del file.flags["report"]
    return Present(dag, jobs)


def start_time(pid: int) -> str:
    """When a process started, in ticks since boot, which no clock changes; empty if there is none or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def this_process() -> dict:
    return {"host": socket.gethostname(), "pid": os.getpid(), "start": start_time(os.getpid())}


def read_lock(file: Path) -> tuple[dict, list[str]]:
    """Who wrote a lock, and the files that it locks; nobody is known where a plain Snakemake wrote it."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:  # just released
        return {}, []
    named = bool(lines) and lines[0].startswith(OWNER)
    return (json.loads(lines[0].removeprefix(OWNER)), lines[1:]) if named else ({}, lines)


def is_dead(process: dict) -> bool:
    """Known only on the same machine, and where the system tells when a process started."""
    here = process.get("host") == socket.gethostname() and process["start"]
    return bool(here) and start_time(process["pid"]) != process["start"]


def remove_dead(locks: list[Path]) -> None:
    """Remove the locks of processes that were killed, and say so once for each."""
    owners = {lock: read_lock(lock)[0] for lock in locks}
    dead = {lock: process["pid"] for lock, process in owners.items() if is_dead(process)}
    for lock in dead:
        lock.unlink()
    for pid in dict.fromkeys(dead.values()):
        said = f"clusterlens: the Snakemake before this one (process {pid}) was killed: its lock is removed"
        print(said, file=sys.stderr)


def held_by(process: dict) -> str:
    """One line on a lock that stays: who holds it and what to do."""
    wait = "wait until it ends, or give this one a folder of its own with --directory"
    if not process:
        return "this folder is locked: if no Snakemake runs in it, run 'snakemake --unlock', then this command again"
    who = f"process {process['pid']} on {process['host']}"
    if process["host"] == socket.gethostname() and process["start"]:
        return f"another Snakemake makes the same files ({who}): {wait}; 'kill -INT {process['pid']}' stops it"
    return f"another Snakemake makes the same files ({who}): {wait}; if it is gone, run 'snakemake --unlock' first"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time, where the file system can tell."""
    with open(folder / "locking", "w") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class PlanAgain(SystemExit):
    """Snakemake has to start again with the same command."""


def submits_to_slurm(dag) -> bool:
    plugin = dag and dag.workflow.executor_plugin
    return bool(plugin) and plugin.name == "slurm"


def name_owners(persistence: type) -> None:
    """Let Snakemake's locks carry their owner; those of the dead do not count."""

    def lock_files(self) -> list[Path]:
        return sorted(Path(self._lockdir).glob("*.lock"))

    def living(self) -> Iterator[tuple[str, str]]:
        """What others lock. Snakemake stops at the first file that it needs itself, so that `holder` is who has it."""
        for lock in lock_files(self):
            self.holder, files = read_lock(lock)
            if not is_dead(self.holder):
                yield from ((lock.suffixes[0][1:], file) for file in files)

    @contextmanager
    def lock(self) -> Iterator[None]:
        with alone(Path(self.path)):
            remove_dead(lock_files(self))
            if self.locked:
                sys.exit(f"clusterlens: {held_by(self.holder)}")
            mine = OWNER + json.dumps(this_process())
            self._write_locks("input", (mine, *map(str, self.all_inputfiles())))
            self._write_locks("output", (mine, *map(str, self.all_outputfiles())))
            written = [*self._lockfile.values()]
        try:
            if submits_to_slurm(self.dag):
                files = {*map(str, self.all_outputfiles()), *map(str, self.all_inputfiles())}
                folder, owners = Path(self.path), (lambda: (read_lock(file)[0] for file in lock_files(self)))
                if slurm_jobs.end_survivors(folder, owners, files):
                    raise PlanAgain  # their last doings have changed the files that the plan was made from
                slurm_jobs.name_jobs(self.dag.workflow.executor_settings, folder, this_process())
            yield
        finally:
            for path in written:
                Path(path).unlink(missing_ok=True)

    begin = persistence.started

    def started(self, job, external_jobid: str | None = None) -> None:
        if submits_to_slurm(self.dag) and external_jobid:
            slurm_jobs.remember(Path(self.path), external_jobid, map(str, job.output))
        begin(self, job, external_jobid)

    persistence._read_locks, persistence.lock, persistence.started = living, lock, started


async def keep_order(dag, job, outputs: list) -> None:
    """Outputs that look older than an input, because a clock was set back, get the input's time.

    Snakemake would remove them, hours of training included.
    """
    inputs = [await file.mtime_uncached(skip_storage=True) for file in job.input if await file.exists_local()]
    newest = max((times.local() for times in inputs), default=0)
    for file in outputs:
        if await file.exists_local() and (await file.mtime_uncached(skip_storage=True)).local() < newest:
            file.touch(times=(newest, newest))


def put_right() -> None:
    """Replace what Snakemake has no setting for."""
    from snakemake import report
    from snakemake.dag import DAG
    from snakemake.persistence.file import FilePersistence
    from snakemake.script import PythonScript

    create_report, get_preamble = report.auto_report, PythonScript.get_preamble

    async def report_what_is_there(dag, *settings):
        await create_report(await present(dag), *settings)

    def die_well(script) -> str:
        """Until the job's own code takes over, an interrupt ends it as it ends any program: without a traceback.

        When Snakemake is killed the job goes with it: the next Snakemake runs it again, and two would write one file.
        """
        return f"import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); {FOLLOW} {get_preamble(script)}"

    report.auto_report = report_what_is_there
    PythonScript.get_preamble = die_well
    DAG.check_output_mtime = keep_order
    name_owners(FilePersistence)
    sys.executable = shlex.quote(sys.executable)


def main() -> None:
    folder = Path.cwd()
    try:
        from snakemake import cli

        os.environ[COMMAND] = shlex.join(["snakemake", *sys.argv[1:]])
        sys.argv[1:] = rearrange(sys.argv[1:], cli.get_argument_parser())
        put_right()
        cli.main()
    except PlanAgain:
        os.chdir(folder)
        os.execvp(sys.orig_argv[0], sys.orig_argv)
    except KeyboardInterrupt:
        sys.exit("clusterlens: stopped")


if __name__ == "__main__":
    main()
