"""Fixtures that several unit tests share."""

import pytest


@pytest.fixture(scope="module")
def one_thread():
    """Torch on one thread: small tensors gain nothing from more, and lose much where the cores are shared."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
