"""A Fig. 9: covariance eigenvalues by iteration under four scaling modes."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, MODES
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.metrics.numbers import number
from clusterlens.metrics.spectrum import gaps


def gap_numbers(panel: str, ratios: pd.DataFrame) -> list[dict]:
    """λ1/λk in rows `<panel> t=<iteration>`, from `spectrum.gaps`."""
    return [
        number(f"{panel} t={t}", f"lambda1/lambda{rank}", ratios.loc[t, rank])
        for t in ratios.index
        for rank in ratios.columns
    ]


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        for case in found.cases("longformer"):
            panel, spectrum = f"{data} {case.mode}", found.spectrum(case)
            parts.append(spectrum.drop(columns="pattern").assign(panel=panel))
            titles[panel] = f"{data}: {MODES[case.mode]}"
            numbers += gap_numbers(panel, gaps(spectrum))
    points = pd.concat(parts)
    return eigenvalue_panels(points, titles, columns=len(MODES), along="iteration"), points, numbers
