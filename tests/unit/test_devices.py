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
from clusterlens.devices import keep_freed_memory
if {keep}:
    keep_freed_memory()
for _ in range(12):
    torch.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_auto_takes_what_torch_finds(monkeypatch):
    for found, wanted in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=found: found)
        assert pick("auto").type == wanted
    with pytest.raises(UserError, match="set 'device: auto' or 'device: cpu'"):
        pick("cuda:0")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library")
def test_freed_memory_is_used_again_without_a_page_fault():
    def faults(keep):
        code = FAULTS.format(keep=keep, path=sys.path)
        return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    pages = 5 * 4 * 2**24 // 4096
    assert faults(keep=False) > 0.5 * pages > 10 * faults(keep=True)
