"""What a user with a card runs, tried on tiny models here."""

import importlib.util

import pytest
import torch

from clusterlens.provenance import ROOT

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("check_gpu", ROOT / "tools" / "check_gpu.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def quick(script, monkeypatch):
    for name in ("STEPS", "WARM_UP", "TIMED"):
        monkeypatch.setattr(script, name, 1)


def test_without_a_card_it_says_so_in_one_line(script, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert script.main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "CUDA_VISIBLE_DEVICES" in shown.err


def test_every_model_is_tried_and_agrees_with_itself(script, quick, capsys):
    assert script.main(["--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tried = [line for line in lines if line.startswith("ok")]
    assert [line.split()[1] for line in tried] == script.CASES
    assert all("images/s" in line or "texts/s" in line for line in tried)
    assert lines[0].startswith("python=") and any(line.startswith("commit ") for line in lines)


def test_a_loss_that_differs_or_breaks_is_reported_with_what_to_send(script, quick, capsys, monkeypatch):
    def wrong(case, size, device, *, half=False, seen=[]):  # noqa: B006
        seen.append(case)
        if case == "spikformer":
            raise RuntimeError("an illegal\nmemory access")
        return [2.0 + 0.1 * len(seen)]

    monkeypatch.setattr(script, "losses", wrong)
    assert script.main(["--device", "cpu", "--models", "vit", "spikformer"]) == 1
    shown = capsys.readouterr().out
    report = shown.partition("send us")[2]
    assert "FAIL vit" in shown and "FAIL spikformer" in shown
    assert "vit: full precision differs from the CPU by 0.048, allowed 0.001" in report
    assert "RuntimeError: an illegal memory access" in report and "test_check_gpu.py:" in report and "torch=" in report


def test_losses_that_are_not_finite_never_agree(script):
    assert script.furthest([float("nan")], [2.0]) == script.furthest([2.0], [0.0]) == float("inf")
    assert script.furthest([2.02, 1.0], [2.0, 1.0]) == pytest.approx(0.01)
