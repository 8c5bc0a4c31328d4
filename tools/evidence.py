"""Publish what a laptop run found as docs/evidence, and its sentence in the README. Usage: make evidence."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from media import rewrite_verdicts
from PIL import Image

from clusterlens import pace
from clusterlens.cache import processor
from clusterlens.config import complete
from clusterlens.data.formats import write_csv
from clusterlens.errors import UserError
from clusterlens.files import write_json, write_text
from clusterlens.progress import read_seconds
from clusterlens.schema import read_yaml
from clusterlens.verify.evidence_page import claims_table, page
from clusterlens.verify.run import Run, read_run

ROOT = Path(__file__).resolve().parent.parent
EVIDENCE = ROOT / "docs" / "evidence"
COLOURS = 128  # of the published picture, which has few
LARGEST = 500_000  # bytes in all, so that it can be committed


def publish(config: Path, folder: Path, *, cores: int, allow_changes: bool = False) -> None:
    """Write the evidence of the run that was made with this config on so many cores, all of it or nothing."""
    if not config.is_file():
        raise UserError(f"there is no {config}: name the config of the run with --config")
    settings = read_yaml(config)
    complete(settings, read_yaml(ROOT / "config" / "config.yaml"))
    run = read_run({name: Path(path) for name, path in settings["pathvars"].items()}, allow_changes=allow_changes)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".evidence-") as around:
        new = Path(around) / folder.name
        write(run, settings, cores, new)
        size = sum(file.stat().st_size for file in new.iterdir())
        if size > LARGEST:
            raise UserError(f"{folder} would have {size:,} bytes, more than the {LARGEST:,} meant to be committed")
        if folder.exists():
            folder.rename(Path(around) / "old")
        new.rename(folder)


def write(run: Run, settings: dict, cores: int, folder: Path) -> None:
    write_times(run, settings, cores, folder)
    write_csv(folder / "claims.csv", claims_table(run))
    write_csv(folder / "numbers.csv", run.comparison)
    write_text(folder / "README.md", page(run))
    with Image.open(run.results / "verdicts.png") as drawn:
        drawn.convert("RGB").quantize(COLOURS).save(folder / "verdicts.png", optimize=True)


def write_times(run: Run, settings: dict, cores: int, folder: Path) -> None:
    """What `make laptop` tells the time from: the pace of this machine, and the median seconds of each kind of job."""
    measured, seconds = pace.remembered(settings, cores), run.folders["logs"] / "seconds.csv"
    if measured is None or not seconds.is_file():
        raise UserError(
            f"no job times of a run on {cores} cores: run 'make laptop' first, then 'make evidence' with the same CORES"
        )
    write_json(folder / "machine.json", measured | {"processor": processor(), "cores": cores})
    rows = sorted(read_seconds(seconds).items())
    write_csv(folder / "seconds.csv", pd.DataFrame(rows, columns=["job", "seconds"]).round(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--allow-changes", action="store_true", help="publish results from no commit of this history")
    parser.add_argument("--config", type=Path, default=ROOT / "config" / "laptop.yaml", help="names the run's folders")
    parser.add_argument("--cores", default="2", help="on which the run was made")
    chosen = parser.parse_args()
    try:
        publish(chosen.config, EVIDENCE, cores=pace.cores_of(chosen.cores), allow_changes=chosen.allow_changes)
    except UserError as error:
        sys.exit(f"clusterlens: {error}")
    rewrite_verdicts(ROOT / "README.md")
    print(f"Evidence: {EVIDENCE.relative_to(ROOT)}/README.md")


if __name__ == "__main__":
    main()
