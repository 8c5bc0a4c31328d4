"""The `snakemake` command of the project's environment: Snakemake itself, with four things put right.

- Targets are told from option values. Snakemake's parser lets `--resources`, `--forcerun` and their like take every
  word that follows, so that `snakemake --cores 1 --resources gpu=1 results/table2.csv` fails.
- The folder of the environment may have any name: Snakemake puts the path of Python into shell commands unquoted.
- A report shows the files that are there instead of failing at the first that is not.
- Ctrl-C stops jobs without a traceback for each.
"""

import argparse
import shlex
import sys

CONFIG_FILES = (".yaml", ".yml", ".json")


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


def put_right() -> None:
    """Replace what Snakemake has no setting for."""
    from snakemake import report
    from snakemake.script import PythonScript

    create_report, get_preamble = report.auto_report, PythonScript.get_preamble

    async def report_what_is_there(dag, *settings):
        await create_report(await present(dag), *settings)

    def die_quietly(script) -> str:
        """Until the job's own code takes over, an interrupt ends it as it ends any program: without a traceback."""
        return f"import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)  {get_preamble(script)}"

    report.auto_report = report_what_is_there
    PythonScript.get_preamble = die_quietly
    sys.executable = shlex.quote(sys.executable)


def main() -> None:
    try:
        from snakemake import cli

        sys.argv[1:] = rearrange(sys.argv[1:], cli.get_argument_parser())
        put_right()
        cli.main()
    except KeyboardInterrupt:
        sys.exit("clusterlens: stopped")


if __name__ == "__main__":
    main()
