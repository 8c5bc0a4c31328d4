"""E, the eigenvalue slides of the multi-head part with ALBERT: single heads, their sum, and a random control."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.data.formats import read_arrays
from clusterlens.figures.value_flows import plot_sum
from clusterlens.metrics.numbers import number

ROWS = {"single": "single heads", "total": "sum of heads", "random": "sum of random heads"}


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    found = read_arrays(Path(files["spectra"][0]), tuple(ROWS))
    rows, points = [], []
    for name, label in ROWS.items():
        eigenvalues = found[name].ravel()
        lead = eigenvalues[eigenvalues.real.argmax()]
        rows.append(number(label, "leading real part", lead.real))
        rows.append(number(label, "leading imaginary part", abs(lead.imag)))
        rows.append(number(label, "share growing", (eigenvalues.real > 0).mean()))
        points += [(label, value.real, value.imag) for value in eigenvalues]
    return plot_sum(**found), pd.DataFrame(points, columns=["matrix", "real", "imaginary"]), rows
