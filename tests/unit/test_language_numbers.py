"""A Figure 11 and Table 1 from metrics of known size: means, paired differences, intervals, p, labels and drawing."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from scipy import stats

from clusterlens.figures.pretraining import plot_pretraining
from clusterlens.metrics.numbers import from_text, tidy
from clusterlens.models.arms import ARMS, LanguageRun, language_jobs
from clusterlens.training.language_numbers import (
    final_results,
    finetuning_numbers,
    finetuning_table,
    pretraining_numbers,
    read_language_runs,
)
from clusterlens.verify.labels import read_labels, row_pattern, unlisted

SETTINGS = {"window": 128, "windows": [128, 512], "jobs": "seed"}
TEXTS = {"train": 9773, "valid": 1014}
COLUMNS = ("val_loss", "accuracy", "f1")


def value(arm: str, window: int, seed: int, epoch: int, column: str) -> float:
    """Query scaling exactly as dot-product scaling, the others not."""
    place = 0 if arm == "sq_exact" else list(ARMS).index(arm)
    wobble = np.random.default_rng([place, window, seed, epoch, len(column)]).normal()
    return {"train_loss": 6, "val_loss": 5}.get(column, 80) - epoch + 0.3 * place + 0.1 * wobble


def write_runs(folder, seeds: list[int]) -> tuple[list[str], dict]:
    """Metrics of pre-training and of both tasks, in the folder of each job."""
    jobs = language_jobs({**SETTINGS, "seeds": seeds})
    for job, runs in jobs.items():
        (folder / job).mkdir(parents=True)
        for run in runs:
            for suffix in ("", "_imdb", "_sst2"):
                rows = [
                    {"epoch": epoch}
                    | {name: value(**run, epoch=epoch, column=name + suffix[:2]) for name in ("train_loss", *COLUMNS)}
                    | {"seconds": 1.0, "texts_per_second": 2.0}
                    for epoch in (1, 2)
                ]
                pd.DataFrame(rows).to_csv(folder / job / f"{LanguageRun(**run).name}{suffix}.csv", index=False)
    return [str(folder / job) for job in jobs], jobs


@pytest.fixture(params=[[0, 1], [0, 1, 2, 5]], ids=len)
def runs(request, tmp_path):
    return write_runs(tmp_path, request.param), request.param


def by_label(numbers: list[dict]) -> dict[tuple[str, str], dict]:
    return {(entry["row"], entry["column"]): entry for entry in numbers}


def provides(item: str, numbers: list[dict]) -> None:
    """All labels are listed, and all listed ones are there."""
    table = tidy(numbers)
    assert unlisted("attention_clusters", item, table) == []
    assert not table.duplicated(["row", "column"]).any()
    for pattern, columns in read_labels()["attention_clusters"][item].items():
        rows = [row for row in table["row"].unique() if row_pattern(pattern).fullmatch(row)]
        assert rows, pattern
        for row in rows:
            assert set(columns) <= set(table.loc[table["row"] == row, "column"]), (row, columns)


def test_losses_are_of_the_last_epoch_and_differences_are_paired(runs):
    (folders, jobs), seeds = runs
    numbers = pretraining_numbers(read_language_runs(folders, jobs), window=128, texts=TEXTS)
    provides("fig11", numbers)
    found = by_label(numbers)
    for window, suffix in ((128, ""), (128, " w=128"), (512, " w=512")):
        last = [value("sdp", window, seed, 2, "val_loss") for seed in seeds]
        assert from_text(found[f"SDP{suffix}", "final validation loss"]["by_seed"]) == pytest.approx(
            dict(zip(seeds, last, strict=True))
        )
        assert found[f"SQ - SDP{suffix}", "largest difference"]["value"] == 0.0
    apart = {
        seed: max(
            abs(value("sq_inplace", 128, seed, e, "val_loss") - value("sdp", 128, seed, e, "val_loss")) for e in (1, 2)
        )
        for seed in seeds
    }
    assert from_text(found["SQ in place - SDP", "largest difference"]["by_seed"]) == pytest.approx(apart, rel=1e-5)
    assert (found["samples", "training"]["value"], found["samples", "validation"]["value"]) == (9773, 1014)


def test_table_gives_scipys_interval_and_p(runs):
    (folders, jobs), seeds = runs
    tasks = {task: read_language_runs(folders, jobs, suffix=f"_{task}") for task in ("imdb", "sst2")}
    results = final_results(read_language_runs(folders, jobs), tasks, 128)
    numbers = finetuning_numbers(results, 128)
    provides("table1", numbers)
    found = by_label(numbers)
    one, other = (
        np.array([value(arm, 128, seed, 2, "accuracy_i") for seed in seeds]) for arm in ("sq_shared", "sdp_shared")
    )
    entry = found["Δ (SQ shared - SDP shared)", "IMDB accuracy"]
    expected = stats.ttest_rel(one, other).confidence_interval(0.95)
    assert (entry["low"], entry["high"]) == pytest.approx((expected.low, expected.high))
    p = stats.permutation_test((one - other,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert found["Δ (SQ shared - SDP shared)", "IMDB accuracy p"]["value"] == pytest.approx(p)
    assert found["Δ (SQ - SDP)", "SST-2 F1"]["value"] == 0 and found["Δ (SQ - SDP)", "SST-2 F1 p"]["value"] == 1
    table = finetuning_table(numbers).set_index("Model Variant")
    assert list(table.index[:2]) == ["SDP, w = 128", "SQ, w = 128"] and len(table) == len(ARMS) + 3
    assert table.loc["Δ (SQ shared - SDP shared)", "IMDB accuracy ±95%"] == round((expected.high - expected.low) / 2, 2)
    assert table["IMDB accuracy p"].notna().sum() == 3


def test_bands_are_drawn_from_three_seeds_on(runs):
    (folders, jobs), seeds = runs
    figure = plot_pretraining(read_language_runs(folders, jobs), window=128)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles[:2] == ["(a) window 128", "(b) window 512"] and len(titles) == 4
    bands = [one for axis in figure.axes for one in axis.collections if isinstance(one, PolyCollection)]
    assert len(bands) == (0 if len(seeds) < 3 else 2 * 4 + 6 + 4)
    plt.close(figure)
