"""Where to compute, and how memory is kept."""

import ctypes
import subprocess
import sys

import pytest
import torch

from clusterlens.devices import pick
from clusterlens.errors import UserError

FAULTS = """
import resource, sys
sys.path[:] = {path}
import torch
from clusterlens import devices
{setting}
for _ in range(12):
    torch.ones({numbers})
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    torch.ones({numbers})
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_auto_takes_what_torch_finds(monkeypatch):
    for found, wanted in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=found: found)
        assert pick("auto").type == wanted
    with pytest.raises(UserError, match="set 'device: auto' or 'device: cpu'"):
        pick("cuda:0")


def faults(setting: str, *, numbers: int) -> int:
    """Page faults while a tensor is made and freed five times."""
    code = FAULTS.format(setting=setting, numbers=numbers, path=sys.path)
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library")
def test_freed_memory_is_used_again_without_a_page_fault():
    numbers = 2**24
    pages = 5 * 4 * numbers // 4096
    assert faults("", numbers=numbers) > 0.5 * pages
    assert faults("devices.keep_freed_memory()", numbers=numbers) < 0.05 * pages


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library")
def test_freed_memory_is_given_back_where_the_heap_would_keep_it():
    numbers = 2**22  # the hidden states of a batch
    pages = 5 * 4 * numbers // 4096
    assert faults("", numbers=numbers) < 0.05 * pages
    assert faults("devices.give_back_freed_memory()", numbers=numbers) > 0.5 * pages
