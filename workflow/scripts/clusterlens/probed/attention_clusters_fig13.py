"""A Fig. 13: Longformer with all learned weights on."""

from functools import partial

from clusterlens.probed.spectra import show_spectra

show = partial(show_spectra, "fig13")
