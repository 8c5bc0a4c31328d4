"""One log per job: to its file and to the terminal, opening with what ran, where and from which commit."""

import logging
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from clusterlens.redaction import redacted

PACKAGES = ("clusterlens", "numpy", "torch", "scikit-learn", "transformers", "spikingjelly", "matplotlib", "snakemake")

log = logging.getLogger("clusterlens")


def versions() -> dict[str, str]:
    """Python's version and those of the packages that can change a number."""
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class Redacting(logging.Formatter):
    """Lines and tracebacks without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def open_log(path: str | None) -> None:
    """Send the library's messages to the job's log file and to stderr; what is at level DEBUG only to the file."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setLevel(logging.INFO)
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    for old in log.handlers[:]:
        old.close()
        log.removeHandler(old)
    for handler in handlers:
        handler.setFormatter(Redacting("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False


def duration(seconds: float) -> str:
    """In the unit that a person would use."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes < 48 * 60 else f"{seconds / 86400:.0f} days"


def internal_error(rule: str, path: str | Path | None) -> str:
    """What the user reads of an error that is not theirs."""
    return f"internal error in {rule}, see {path or 'above'}"


def killed(rule: str, path: Path) -> str:
    """What the user reads of a job that ended without a word."""
    return f"{rule} was killed, perhaps for lack of memory, see {path}; the same command resumes"


def has_begun(path: Path) -> bool:
    """Whether a log is that of a script; a shell command writes only what went wrong."""
    return " INFO " in path.read_text(encoding="utf-8", errors="replace")


def last_error(path: Path) -> str:
    """The last error in a job's log; empty where there is none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(" ERROR ")[2] for line in reversed(lines) if " ERROR " in line), "")
