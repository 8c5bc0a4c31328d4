"""A Fig. 12: Longformer with learned queries, keys and values off."""

from functools import partial

from clusterlens.probed.spectra import show_spectra

show = partial(show_spectra, "fig12")
