"""Measures of clusters, masks, labels, spectra and seeds."""
