"""A Fig. 5: Fig. 4 on the heart table."""

from clusterlens.clustered.fig4 import show

__all__ = ["show"]
