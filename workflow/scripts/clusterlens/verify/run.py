"""A finished run: its verdicts and the manifests of all jobs behind them, refused unless they are as they were made."""

import os
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd

from clusterlens.errors import UserError
from clusterlens.files import read_json
from clusterlens.provenance import from_here, hash_inputs, in_history
from clusterlens.redaction import redacted

WHOLE = ("claims", "comparison", "verdicts")  # what is made last of all
ERROR = " ERROR "  # in a line of a log
AGAIN = "run 'make laptop' to bring everything up to date"


@dataclass(frozen=True)
class Run:
    """`folders` are those of the config's `pathvars`; manifests by their paths."""

    folders: dict[str, Path]
    manifests: dict[str, dict]
    claims: pd.DataFrame
    comparison: pd.DataFrame

    @property
    def results(self) -> Path:
        return self.folders["results"]

    def has(self, paper: str, item: str) -> bool:
        """Whether the item was there when the claims were judged."""
        return from_here(str(self.results / paper / f"{item}.manifest.json")) in self.manifests

    def counted(self, name: str) -> Counter:
        """How many jobs recorded each value under this name."""
        return Counter(manifest.get(name) or "not recorded" for manifest in self.manifests.values())

    @property
    def began(self) -> datetime:
        return min(ended(one) - timedelta(seconds=one["seconds"]) for one in self.manifests.values())

    @property
    def ended(self) -> datetime:
        return max(map(ended, self.manifests.values()))

    def by_rule(self) -> dict[str, list[dict]]:
        found: dict[str, list[dict]] = {}
        for manifest in self.manifests.values():
            found.setdefault(manifest["rule"], []).append(manifest)
        return dict(sorted(found.items()))

    def cpu_seconds(self, rule: str) -> float:
        """What Snakemake measured for the jobs of a rule; 0 where it did not."""
        files = (self.folders["benchmarks"] / rule).glob("**/*.tsv")
        return float(sum(pd.read_csv(file, sep="\t")["cpu_time"].sum() for file in files))

    def failures(self) -> dict[str, str]:
        """The last line of every log that ends with an error, by the log's path below the folder of logs."""
        folder = self.folders["logs"]
        lines = {file: file.read_text("utf-8", "replace").splitlines()[-1:] for file in sorted(folder.rglob("*.log"))}
        return {
            file.relative_to(folder).with_suffix("").as_posix(): redacted(line.partition(ERROR)[2])
            for file, found in lines.items()
            for line in found
            if ERROR in line
        }

    def datasets(self) -> dict[str, dict]:
        """The manifest of every prepared data set and checkpoint that went in, by name."""
        found = {one["dataset"]: one for path, one in self.manifests.items() if is_data(path, one)}
        return dict(sorted(found.items()))


def ended(manifest: dict) -> datetime:
    return datetime.fromisoformat(manifest["finished"])


def is_data(path: str, manifest: dict) -> bool:
    """Of a data set as prepared, not as retrieved."""
    return "dataset" in manifest and Path(path).name == "manifest.json"


def read_run(folders: dict[str, Path], *, allow_changes: bool = False) -> Run:
    """The run in these folders, every file behind its verdicts checked."""
    results = folders["results"]
    last = [results / f"{name}.manifest.json" for name in WHOLE]
    for path in last:
        if not path.is_file():
            raise UserError(
                f"there is no finished laptop run: {path} is not there; run 'make laptop' first; where some data cannot"
                " be had, make laptop CONFIG=\"'verify={items: existing}'\" judges what has been made"
            )
    manifests = behind([from_here(str(path)) for path in last])
    check(manifests)
    claims, comparison = (
        pd.read_csv(results / f"{name}.csv", dtype=str, keep_default_na=False) for name in ("claims", "comparison")
    )
    run = Run(folders, manifests, claims, comparison)
    doubtful = [name for name in run.counted("commit") if not in_history(name)]
    if doubtful and not allow_changes:
        raise UserError(
            f"some results were not made from a commit of this history ({', '.join(doubtful)}), so nobody could make"
            " them again: run 'make laptop' in a clean clone, or publish them, marked as such, with"
            " 'make evidence OPTIONS=--allow-changes'"
        )
    return run


def behind(manifests: list[str]) -> dict[str, dict]:
    """These manifests and all among their inputs, theirs included, by path."""
    found: dict[str, dict] = {}
    waiting = list(manifests)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        if not Path(path).is_file():
            raise UserError(f"{path}, from which results were made, is gone; {AGAIN}")
        found[path] = read_json(path)
        waiting += [name for name in found[path]["inputs"] if name.endswith("manifest.json")]
    return dict(sorted(found.items()))


def check(manifests: dict[str, dict]) -> None:
    """Refuse a file that is not what its job wrote, and a result that was made from other files than those here."""
    written = {
        os.path.normpath(Path(path).parent / name): path for path, one in manifests.items() for name in one["outputs"]
    }
    for path, manifest in written.items():
        if not Path(path).exists():
            raise UserError(f"{path}, which {manifest} records, is gone; {AGAIN}")
    present = hash_inputs([*manifests, *written])
    for path, one in manifests.items():
        for name, recorded in one["inputs"].items():
            if present.get(name, recorded) != recorded:
                raise UserError(f"{name} was made again after {path}; {AGAIN}")
