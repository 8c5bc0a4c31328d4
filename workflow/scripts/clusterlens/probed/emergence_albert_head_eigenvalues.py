"""E, ALBERT slide 1: the eigenvalues of every head's value matrix."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clusterlens.data.formats import read_arrays
from clusterlens.figures.value_flows import plot_spectra
from clusterlens.metrics.numbers import number

NOT_ZERO = 1e-4  # as in the notebook behind the slides


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    found = read_arrays(Path(files["spectra"][0]), ("single", "beta"))
    rows, points = [], []
    for head, (eigenvalues, beta) in enumerate(zip(found["single"], found["beta"], strict=True), start=1):
        label = f"head {head}"
        rows.append(number(label, "leading real part", eigenvalues[0].real))
        rows.append(number(label, "leading imaginary part", eigenvalues[0].imag))
        rows.append(number(label, "non-zero", int((np.abs(eigenvalues) > NOT_ZERO).sum())))
        rows.append(number(label, "effective beta", beta))
        points += [(head, rank, value.real, value.imag) for rank, value in enumerate(eigenvalues, start=1)]
    table = pd.DataFrame(points, columns=["head", "rank", "real", "imaginary"])
    return plot_spectra(found["single"]), table, rows
