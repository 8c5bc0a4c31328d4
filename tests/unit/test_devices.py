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


@pytest.fixture
def cards(monkeypatch):
    """Pretend that torch finds so many, with CUDA_VISIBLE_DEVICES as given."""

    def pretend(count: int, visible: str | None = None):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return pretend


def test_auto_takes_what_torch_finds(cards):
    for count, wanted in ((1, "cuda"), (0, "cpu")):
        cards(count)
        assert pick("auto").type == wanted


@pytest.mark.parametrize(
    ("count", "visible", "name", "message"),
    [
        (0, None, "cuda", "'cuda' asked for, but torch finds no CUDA device: set 'device: auto' or 'device: cpu'"),
        (0, "", "cuda:0", "finds no CUDA device (CUDA_VISIBLE_DEVICES is ''): set"),
        (1, "3", "cuda:3", "finds 1 CUDA device (CUDA_VISIBLE_DEVICES is '3'): set 'device: auto'"),
        (2, None, "cuda:2", "finds 2 CUDA devices: set 'device: auto' or 'device: cpu' or a number below that"),
    ],
)
def test_a_card_that_is_not_there_is_refused(cards, count, visible, name, message):
    cards(count, visible)
    with pytest.raises(UserError) as refused:
        pick(name)
    assert message in str(refused.value)


def test_a_card_that_is_there_is_taken_at_its_word(cards):
    cards(2, "4,5")
    assert (pick("cuda:1"), pick("cpu")) == (torch.device("cuda:1"), torch.device("cpu"))


@pytest.mark.parametrize(
    ("visible", "warned"), [("0", True), ("GPU-1b", True), ("", False), ("-1", False), (None, False)]
)
def test_a_card_that_was_given_but_cannot_be_used_is_no_secret(cards, visible, warned, caplog, monkeypatch):
    monkeypatch.setattr("clusterlens.logs.log.propagate", True)
    cards(0, visible)
    assert pick("auto").type == "cpu"
    assert ("torch cannot use that card" in caplog.text) == warned


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
