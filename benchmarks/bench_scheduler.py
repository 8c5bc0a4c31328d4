"""What Snakemake itself costs: planning a thousand training jobs, and starting a job of the cheapest rule.

Usage: bench_scheduler.py [jobs]
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
from checkout import ROOT, Cost, copy_checkout, measure_snakemake, tiny_jobs

from clusterlens.data.formats import write_csv

MINI = ("--cores", "1", "--configfile", "config/mini.yaml")
FEW = 10  # jobs of the run that is subtracted, so that the start of Snakemake does not count


def plan(jobs: int) -> Cost:
    seeds = [*range(jobs)]
    runs = [f"results/mini/runs/vit/seed{seed}/metrics.csv" for seed in seeds]
    return measure_snakemake("-n", *MINI, "--config", f"training={{seeds: {seeds}}}", "--", *runs)


def run(jobs: int, folder: Path) -> Cost:
    return measure_snakemake(*MINI, "--forceall", "--", *tiny_jobs(jobs, folder), folder=folder)


def main(jobs: int) -> None:
    one, thousand, more = plan(1), plan(1000), plan(3000)
    with tempfile.TemporaryDirectory() as place:
        folder = copy_checkout(Path(place))
        few, many = run(FEW, folder), run(FEW + jobs, folder)
    rows = [
        at_most("planning 1,000 training jobs: CPU seconds", thousand.cpu, 30),
        at_most("planning 1,000 training jobs: CPU seconds over those of one", thousand.cpu / one.cpu, 10),
        at_most("planning 3,000 training jobs: CPU seconds over those of 1,000", more.cpu / thousand.cpu, 4),
        at_most("planning 3,000 training jobs: peak MB", more.peak_mb, 1000),
        at_most("a job beyond its own work: CPU seconds", (many.cpu - few.cpu) / jobs, 0.5),
        at_most("a job beyond its own work: seconds", (many.wall - few.wall) / jobs, 1),
        at_most(f"running {FEW + jobs} jobs: peak MB", many.peak_mb, 1000),
    ]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    write_csv(ROOT / "benchmarks" / "results" / "scheduler.csv", table)


def at_most(what: str, value: float, target: float) -> dict:
    return {"benchmark": what, "value": float(f"{value:.4g}"), "target": f"<= {target:g}", "met": value <= target}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
