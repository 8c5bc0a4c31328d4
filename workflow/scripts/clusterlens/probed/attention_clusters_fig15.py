"""A Fig. 15: Longformer against RoBERTa with all parameters on."""

from functools import partial

from clusterlens.probed.spectra import show_spectra

show = partial(show_spectra, "fig15")
