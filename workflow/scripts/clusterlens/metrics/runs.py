"""Tables over training runs: the last epoch (S Table 2), the best of each column (S Table 3), spread over seeds."""

import pandas as pd

# How S names the columns of its tables, and whether more is better.
SHOWN = {"train_loss": "Train Loss", "val_loss": "Val Loss", "top1": "Top-1 (%)", "top5": "Top-5 (%)"}
DECIMALS = {"Train Loss": 4, "Val Loss": 4, "Top-1 (%)": 2, "Top-5 (%)": 2}


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

    Beside it the epoch of the best top-1 accuracy (the first, if several) and the validation loss in that epoch.
    """
    groups = metrics.sort_values("epoch").groupby(["run", "seed"], sort=False)
    best = groups.agg(
        train_loss=("train_loss", "min"), val_loss=("val_loss", "min"), top1=("top1", "max"), top5=("top5", "max")
    )
    chosen = metrics.loc[groups["top1"].idxmax()].set_index(["run", "seed"])
    table = best.rename(columns=SHOWN)
    table["Epoch of best Top-1"] = chosen["epoch"]
    table["Val Loss in that epoch"] = chosen["val_loss"]
    return table


def over_seeds(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Mean of every column over seeds and, when there are several, its standard deviation as `<column> ±`."""
    groups = table.groupby(level="run", sort=False)
    means, spreads, seeds = groups.mean(), groups.std(), int(groups.size().max())
    shown = pd.DataFrame({"Model": list(names.values())}, index=list(names))
    for column in table.columns:
        decimals = DECIMALS.get(column, 4)
        shown[column] = means[column].round(decimals)
        if seeds > 1:
            shown[f"{column} ±"] = spreads[column].round(decimals)
    return shown.reset_index(drop=True)
