"""A thousand seeds and many tiny jobs: planned in seconds, run in bounded memory."""

import json

from checkout import copy_checkout, measure_snakemake, tiny_jobs
from conftest import OVERLAYS

SEEDS = [*range(1000)]
MANY = 100
PLANNING_SECONDS, PEAK_MB = 30, 1000  # CPU seconds: other processes do not count
SIMULATED = f"simulations={{emergence: {{boolean_matrix: {{seeds: {SEEDS}}}}}}}"
FIGURE = "results/mini/emergence/boolean_matrix.png"


def test_a_thousand_seeds_are_planned_in_seconds():
    """Of a simulation they are one job, of a model a thousand."""
    words = (
        "-n",
        "--cores",
        "1",
        "--configfile",
        *OVERLAYS,
        "--config",
        SIMULATED,
        f"training={{seeds: {SEEDS}}}",
        "--",
    )
    runs = [f"results/mini/runs/vit/seed{seed}/metrics.csv" for seed in SEEDS]
    cost = measure_snakemake(*words, FIGURE, *runs)
    print(f"planned {len(SEEDS)} runs and a simulation of as many seeds: {cost}")
    assert cost.cpu < PLANNING_SECONDS and cost.peak_mb < PEAK_MB


def test_many_tiny_jobs_and_a_thousand_seeds_run(tmp_path):
    folder = copy_checkout(tmp_path)
    targets = tiny_jobs(MANY, folder)
    words = ("--cores", "2", "--configfile", *OVERLAYS, "--config", SIMULATED, "--", *targets, FIGURE)
    cost = measure_snakemake(*words, folder=folder)
    print(f"ran {MANY} copies and a simulation: {cost}")
    assert all((folder / target).is_file() for target in targets)
    manifest = json.loads((folder / FIGURE).with_suffix(".manifest.json").read_text())
    assert manifest["seeds"] == SEEDS and cost.peak_mb < PEAK_MB
