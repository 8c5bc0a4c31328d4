"""A Fig. 9: covariance eigenvalues by iteration under four scaling modes, on every sample."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES, MODES
from clusterlens.attention.clustering import Clustering
from clusterlens.figures.eigenvalues import eigenvalue_panels
from clusterlens.metrics.numbers import number
from clusterlens.metrics.spectrum import gaps


def gap_numbers(panel: str, ratios: pd.DataFrame) -> list[dict]:
    """Logarithms of λi/λj in rows `<panel> t=<iteration>`, over the samples; from `spectrum.gaps`."""
    return [
        number(f"{panel} t={t}", column, part.droplevel("iteration")[column])
        for t, part in ratios.groupby(level="iteration")
        for column in ratios
    ]


def mode_numbers(data: str, found: Clustering, *, last: bool = False) -> list[dict]:
    """The gaps of every scaling mode, and of each against dot-product scaling on the same sample."""
    ratios = {case.mode: gaps(found.spectrum(case)) for case in found.cases("longformer")}
    if last:
        ratios = {mode: part[part.index.isin([part.index.max()[0]], level=0)] for mode, part in ratios.items()}
    numbers = []
    for mode, part in ratios.items():
        numbers += gap_numbers(f"{data} {mode}", part)
        if mode != "sdp":
            numbers += gap_numbers(f"{data} {mode} over sdp", part - ratios["sdp"])
    return numbers


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    parts, titles, numbers = [], {}, []
    for dataset, paths in files.items():
        found, data = Clustering.load(*paths), DATA_NAMES[dataset]
        for case in found.cases("longformer"):
            panel = f"{data} {case.mode}"
            parts.append(found.spectrum(case).drop(columns="pattern").assign(panel=panel))
            titles[panel] = f"{data}: {MODES[case.mode]}"
        numbers += mode_numbers(data, found)
    points = pd.concat(parts)
    return eigenvalue_panels(points, titles, columns=len(MODES), along="iteration"), points, numbers
