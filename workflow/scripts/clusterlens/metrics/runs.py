"""Tables over training runs: the last epoch (S Table 2), the best of each column (S Table 3), intervals over seeds."""

import pandas as pd

from clusterlens.metrics.numbers import numbers, over_seeds, with_interval

# How S names the columns of its tables, and whether more is better.
SHOWN = {"train_loss": "Train Loss", "val_loss": "Val Loss", "top1": "Top-1 (%)", "top5": "Top-5 (%)"}
DECIMALS = {"Top-1 (%)": 2, "Top-5 (%)": 2, "Best above final": 2, "MACs": 0, "Multiply-adds": 0, "Additions": 0}


def read_runs(paths: list[str], runs: list[str], seeds: list[int]) -> pd.DataFrame:
    """All metrics in one table with the columns `run` and `seed`; the three lists go side by side."""
    tables = [pd.read_csv(path).assign(run=run, seed=seed) for path, run, seed in zip(paths, runs, seeds, strict=True)]
    return pd.concat(tables, ignore_index=True)


def final_epoch(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per run and seed: the last epoch, and the hours that all of them took."""
    last = metrics.sort_values("epoch").groupby(["run", "seed"], sort=False).tail(1)
    hours = metrics.groupby(["run", "seed"])["seconds"].sum() / 3600
    table = last.rename(columns=SHOWN).set_index(["run", "seed"])[list(SHOWN.values())]
    return table.assign(Hours=hours)


def best_epochs(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per run and seed: the best of each column, whichever epoch it comes from, as S Table 3 is made.

    Beside it the epoch of the best top-1 accuracy (the first, if several), the validation loss in that epoch, and by
    how many points that accuracy exceeds the last epoch's.
    """
    groups = metrics.sort_values("epoch").groupby(["run", "seed"], sort=False)
    best = groups.agg(
        train_loss=("train_loss", "min"), val_loss=("val_loss", "min"), top1=("top1", "max"), top5=("top5", "max")
    )
    chosen = metrics.loc[groups["top1"].idxmax()].set_index(["run", "seed"])
    table = best.rename(columns=SHOWN)
    table["Epoch of best Top-1"] = chosen["epoch"]
    table["Val Loss in that epoch"] = chosen["val_loss"]
    table["Best above final"] = best["top1"] - groups["top1"].last()
    return table


def variants_table(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """A row per variant in the order of `names`, with the mean of every column over seeds and its 95 % interval."""
    means, intervals = over_seeds(table.groupby(level="run"))
    decimals = {column: DECIMALS.get(column, 4) for column in table.columns}
    shown = with_interval(means.reindex(names), intervals.reindex(names), decimals)
    shown.insert(0, "Model", list(names.values()))
    return shown.reset_index(drop=True)


def variants_numbers(table: pd.DataFrame, names: dict[str, str]) -> list[dict]:
    """The same as numbers, with every seed."""
    return [row for run, name in names.items() for row in numbers(name, table.loc[run])]
