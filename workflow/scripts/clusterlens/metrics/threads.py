"""The thread pools of NumPy and scikit-learn, which small matrices do not need."""

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def threads() -> ThreadpoolController:
    """Handle on the thread pools: clouds of some thousand tokens are clustered fastest by one thread."""
    return ThreadpoolController()
