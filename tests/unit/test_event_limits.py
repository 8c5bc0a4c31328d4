"""Limits of the event path: measured once, remembered, measured again where the memory is damaged or missing."""

import pytest
import torch

from clusterlens.models import event_limits
from clusterlens.models.events import KERNELS


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(event_limits, "KNOWN", {})
    return tmp_path / "cache" / "clusterlens"


class Trial:
    """Spikes win up to a share, and every measurement is counted."""

    def __init__(self, share: float):
        self.share, self.asked = share, 0

    def __call__(self, share: float) -> bool:
        self.asked += 1
        return share <= self.share


def limit(layer: str, trial: Trial) -> float:
    """As a new process would see it."""
    event_limits.KNOWN.clear()
    return event_limits.limit(layer, KERNELS, trial)


@pytest.mark.parametrize(("share", "found"), [(0.0, 0.0), (0.05, 0.05), (0.27, 0.25), (0.6, 0.6), (1.0, 0.6)])
def test_the_largest_share_at_which_spikes_win(share, found):
    trial = Trial(share)
    assert limit("layer", trial) == found
    assert 0 < trial.asked <= 4


def test_measured_once_for_each_layer_and_number_of_threads():
    before, trial = torch.get_num_threads(), Trial(0.3)
    try:
        for threads, layer, measured in (
            (1, "a", True),
            (1, "a", False),
            (1, "b", True),
            (2, "a", True),
            (1, "b", False),
        ):
            torch.set_num_threads(threads)
            trial.asked = 0
            assert limit(layer, trial) == 0.3
            assert (trial.asked > 0) == measured
    finally:
        torch.set_num_threads(before)


def test_what_a_run_knows_is_not_asked_again(cache):
    event_limits.KNOWN["layer"] = 0.15
    trial = Trial(0.3)
    assert event_limits.limit("layer", KERNELS, trial) == 0.15 and trial.asked == 0 and not cache.exists()


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff", b"[]", b'{"layer": "much"}', b'{"layer": 7}', b'{"layer": null}']
)
def test_a_damaged_memory_is_measured_again(damage, cache):
    assert limit("layer", Trial(0.3)) == 0.3
    (file,) = cache.glob("event-limits-*.json")
    file.write_bytes(damage)
    assert limit("layer", Trial(0.4)) == 0.4
    assert limit("layer", Trial(0.1)) == 0.4


def test_a_cache_that_cannot_be_used_is_no_error(cache):
    cache.parent.write_text("a file where the folder should be")
    assert limit("layer", Trial(0.3)) == 0.3
    assert limit("layer", Trial(0.4)) == 0.4
