"""The numbers of A Figure 11 and Table 1: losses, accuracies and F1 scores by arm, and their paired differences."""

from pathlib import Path

import pandas as pd

from clusterlens.metrics.numbers import INTERVAL, number, text
from clusterlens.metrics.statistics import permutation_test
from clusterlens.models.arms import ARMS, PAIRS, PAPERS_ARMS, TASKS, LanguageRun, difference

LOSSES = {"train_loss": "final training loss", "val_loss": "final validation loss"}
SCORES = {"accuracy": "accuracy", "f1": "F1"}
P = " p"  # behind the name of a column: two-sided p of the paired difference, over all changes of sign


def read_language_runs(folders: list[str], jobs: dict[str, list[dict]], suffix: str = "") -> pd.DataFrame:
    """The metrics of all runs in one table with the columns `arm`, `window` and `seed`; each job has its folder."""
    tables = []
    for folder, runs in zip(folders, jobs.values(), strict=True):
        for run in runs:
            table = pd.read_csv(Path(folder) / f"{LanguageRun(**run).name}{suffix}.csv")
            tables.append(table.assign(**run))
    return pd.concat(tables, ignore_index=True)


def final_epoch(metrics: pd.DataFrame) -> pd.DataFrame:
    """The last epoch of every run, by arm, window and seed."""
    return metrics.sort_values("epoch").groupby(["arm", "window", "seed"]).last()


def pretraining_numbers(metrics: pd.DataFrame, *, window: int, texts: dict[str, int]) -> list[dict]:
    """Final losses of every arm and of the paired differences; rows without a window have that of A Table 2."""
    last = final_epoch(metrics).rename(columns=LOSSES)
    epochs = metrics.set_index(["arm", "window", "seed", "epoch"])["val_loss"].sort_index()
    rows = losses(last, epochs, window, list(ARMS), PAIRS, "")
    for other in sorted(metrics["window"].unique()):
        rows += losses(last, epochs, other, list(PAPERS_ARMS), PAIRS[:1], f" w={other}")
    rows += [text("samples", "training", texts["train"]), text("samples", "validation", texts["valid"])]
    return rows


def losses(last: pd.DataFrame, epochs: pd.Series, window: int, arms: list, pairs: tuple, suffix: str) -> list[dict]:
    """`largest difference` is the largest of all epochs, whichever way it points."""
    rows = []
    for arm in arms:
        rows += [number(f"{ARMS[arm].label}{suffix}", name, last.loc[arm, window][name]) for name in LOSSES.values()]
    for arm, base in pairs:
        row, change = f"{difference(arm, base)}{suffix}", last.loc[arm, window] - last.loc[base, window]
        rows += [number(row, name, change[name]) for name in LOSSES.values()]
        apart = (epochs[arm, window] - epochs[base, window]).abs().groupby(level="seed").max()
        rows.append(number(row, "largest difference", apart))
    return rows


def final_results(pretrained: pd.DataFrame, finetuned: dict[str, pd.DataFrame], window: int) -> pd.DataFrame:
    """By arm and seed: the columns of A Table 1, each after the last epoch."""
    found = {"Pre-training": final_epoch(pretrained)["val_loss"]}
    for task, metrics in finetuned.items():
        last = final_epoch(metrics)
        found |= {f"{TASKS[task]} {name}": last[column] for column, name in SCORES.items()}
    return pd.DataFrame(found).xs(window, level="window").loc[list(ARMS)]


def finetuning_numbers(results: pd.DataFrame, window: int) -> list[dict]:
    """Each arm, each paired difference over seeds, and the p of that difference."""
    rows = []
    for arm in ARMS:
        rows += [number(f"{ARMS[arm].label}, w = {window}", name, results.loc[arm][name]) for name in results]
    for arm, base in PAIRS:
        row, change = f"Δ ({difference(arm, base)})", results.loc[arm] - results.loc[base]
        rows += [number(row, name, change[name]) for name in results]
        rows += [text(row, f"{name}{P}", permutation_test(change[name].to_numpy())) for name in results]
    return rows


def finetuning_table(numbers: list[dict]) -> pd.DataFrame:
    """The same as a table: value, half of the 95 % interval where there are seeds for one, and p of the differences."""
    lines: dict[str, dict] = {}
    for entry in numbers:
        line, column = lines.setdefault(entry["row"], {"Model Variant": entry["row"]}), entry["column"]
        digits = 4 if column == "Pre-training" or column.endswith(P) else 2
        line[column] = round(entry["value"], digits)
        if entry["seeds"] > 1:
            line[f"{column}{INTERVAL}"] = round((entry["high"] - entry["low"]) / 2, digits)
    table = pd.DataFrame(lines.values())
    quantities = [name for name in table if not name.endswith((P, INTERVAL)) and name != "Model Variant"]
    order = [f"{name}{behind}" for name in quantities for behind in ("", INTERVAL, P)]
    return table[["Model Variant", *(name for name in order if name in table)]]
