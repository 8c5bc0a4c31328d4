"""A Figs. 12-15: covariance eigenvalues of the hidden states, layer by layer."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures.layers import spectra_by_layer
from clusterlens.probing.numbers import spectrum_numbers


def show_spectra(item: str, files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    measures = {model: pd.read_csv(paths[0]) for model, paths in files.items()}
    spectra = {model: pd.read_csv(paths[1]) for model, paths in files.items()}
    return *spectra_by_layer(item, measures, spectra), spectrum_numbers(item, measures, spectra)
