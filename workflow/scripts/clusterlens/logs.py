"""One log per job: to its file and to the terminal, opening with what ran, where and from which commit."""

import logging
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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


def open_log(path: str | None) -> None:
    """Send the library's messages to the job's log file and to stderr; an uncaught error goes to the file too."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    for old in log.handlers[:]:
        old.close()
        log.removeHandler(old)
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    sys.excepthook = lambda *error: log.critical("stopped by an unexpected error", exc_info=error)
