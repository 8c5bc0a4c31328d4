"""What the four scaling modes are called on a panel, and their spectral gaps as numbers."""

import pandas as pd

MODE_TITLES = {
    "sdp": "dot product scaled",
    "sq_exact": "query scaled, exact",
    "sq_inplace": "query scaled in place",
    "sq_inplace_clone": "in place, on a copy",
}


def case_of(mode: str, window: int) -> str:
    """The study's name of Longformer's pattern under a mode."""
    return f"longformer {window} {mode}".removesuffix(" sdp")


def gap_numbers(spectra: pd.DataFrame, data: str, window: int, iterations: list[int]) -> list[tuple]:
    """λ1/λ2 and λ1/λ3 of the centred covariance as (row, column, value, spread, seeds), for each mode and iteration."""
    centred = spectra[spectra["covariance"] == "centred"]
    rows = []
    for mode in MODE_TITLES:
        table = centred[centred["case"] == case_of(mode, window)].pivot(
            index="iteration", columns="rank", values="eigenvalue"
        )
        for t in iterations:
            rows += [
                (f"{data} {mode} t={t}", f"lambda1/lambda{rank}", table.loc[t, 1] / table.loc[t, rank], "", 1)
                for rank in table.columns
                if rank > 1
            ]
    return rows
