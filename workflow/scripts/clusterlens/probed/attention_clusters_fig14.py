"""A Fig. 14: Longformer against RoBERTa with all parameters off."""

from functools import partial

from clusterlens.probed.spectra import show_spectra

show = partial(show_spectra, "fig14")
