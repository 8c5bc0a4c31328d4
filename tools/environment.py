"""Build the project's environment from requirements.lock, once, and anew only when the lock changes.

Usage: python tools/environment.py <folder>. Needs nothing but Python's standard library; several clones may share a
folder, by whatever path, and two that start at once wait for each other.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
TOOLS = ROOT / "tools"
LAUNCHER = ("launcher.py", "slurm_jobs.py")
COMMAND = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/python" "$here/../clusterlens/launcher.py" "$@"
"""


def install_packages(folder: Path, *, clear: bool) -> None:
    """Create the environment and install every pinned package; what an interrupted install left is used again."""
    count = sum("==" in line for line in LOCK.read_text(encoding="utf-8").splitlines())
    print(f"Building the environment in {folder}: {count} packages, several GB, about five minutes.", flush=True)
    start = time.monotonic()
    venv.create(folder, clear=clear, symlinks=True, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--no-input"]
    pip += ["--requirement", str(LOCK)]
    with subprocess.Popen(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        tail = show_progress(process.stdout, count)
    if process.returncode:
        sys.exit("clusterlens: pip could not install requirements.lock:\n" + "".join(tail))
    print(f"Environment ready after {time.monotonic() - start:.0f} s.", flush=True)


def install_launcher(folder: Path) -> None:
    """Put the launcher in the place of Snakemake's own command, whose first line breaks in a folder with a space."""
    modules = {f"clusterlens/{name}": (TOOLS / name).read_text(encoding="utf-8") for name in LAUNCHER}
    for name, text in {**modules, "bin/snakemake": COMMAND}.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            new = file.with_name(f".{file.name}.new")
            new.write_text(text, encoding="utf-8")
            new.chmod(0o755)
            os.replace(new, file)


def show_progress(lines, count: int) -> list[str]:
    """One dot per collected package, a word when downloads are done; the last lines are kept for an error message."""
    tail: list[str] = []
    collected = 0
    for line in lines:
        tail = [*tail[-19:], line]
        if line.startswith("Collecting"):
            collected += 1
            print(f"\r  collecting {collected}/{count}", end="", flush=True)
        elif line.startswith("Installing collected"):
            print("\n  installing (the longest part is unpacking torch)", flush=True)
    return tail


def main() -> None:
    if sys.version_info[:2] != (3, 11):
        sys.exit(
            f"clusterlens: Python 3.11 is needed, this is {sys.version.split()[0]}: make PYTHON=<path of python3.11>"
        )
    folder = Path(sys.argv[1]).resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.building").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        stamp = folder / "clusterlens.stamp"
        lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()
        found, place = [*(stamp.read_text(encoding="utf-8").splitlines() if stamp.exists() else []), "", ""][:2]
        if found != lock or not (folder / "bin" / "python").exists():
            stamp.unlink(missing_ok=True)
            install_packages(folder, clear=bool(found))
        elif place != str(folder):  # the folder has been moved: bin/activate still names the old one
            venv.create(folder, symlinks=True)
        stamp.write_text(f"{lock}\n{folder}\n", encoding="utf-8")
        install_launcher(folder)


if __name__ == "__main__":
    main()
