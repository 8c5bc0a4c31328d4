"""The Longformer twin of a RoBERTa computes the same wherever one window covers the text."""

import convert as command
import numpy as np
import pytest
import torch

from clusterlens.errors import UserError
from clusterlens.probing.capture import capture
from clusterlens.probing.convert import convert, longformer_twin
from clusterlens.probing.load import load
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")


def states(model, ids, **options):
    kept = {}
    capture(model, [ids], [lambda layer: kept.update({layer.index: layer.hidden[0].clone().numpy()})], **options)
    return [kept[index] for index in sorted(kept)]


@pytest.mark.parametrize("tokens", ([], [0], [3, 10]))
def test_the_twin_equals_roberta_within_half_a_window(tokens):
    """Every token sees every other when n − 1 ≤ w/2; global ones have copies of the same projections."""
    roberta = tiny.model_of("roberta")
    twin = longformer_twin(roberta, window=32, positions=200)
    ids = tiny.texts_of([17])[0]
    for ours, theirs in zip(states(twin, ids, global_tokens=tokens), probing.everything(roberta, ids)[0], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_beyond_half_a_window_it_does_not():
    roberta = tiny.model_of("roberta")
    ids = tiny.texts_of([18])[0]
    last = states(longformer_twin(roberta, window=32, positions=200), ids)[-1]
    assert np.abs(last - probing.everything(roberta, ids)[0][-1]).max() > 1e-3


def test_positions_are_repeated_and_projections_copied():
    roberta = tiny.model_of("roberta")  # 66 positions, of which two stand before the first
    twin = longformer_twin(roberta, window=8, positions=150)
    learned = roberta.embeddings.position_embeddings.weight
    extended = twin.embeddings.position_embeddings.weight
    assert extended.shape == (152, 24)
    torch.testing.assert_close(extended[:66], learned)
    for position in range(66, 152):
        torch.testing.assert_close(extended[position], learned[2 + (position - 2) % 64])
    for layer in twin.encoder.layer:
        attention = layer.attention.self
        for name in ("query", "key", "value"):
            local, rows = getattr(attention, name), getattr(attention, f"{name}_global")
            torch.testing.assert_close(local.weight, rows.weight)
            torch.testing.assert_close(local.bias, rows.bias)
            assert local.weight.data_ptr() != rows.weight.data_ptr()
    states(twin, tiny.texts_of([150])[0])


def test_the_twin_is_written_as_a_checkpoint_of_its_own(tmp_path):
    roberta = tiny.save("roberta", tmp_path / "roberta")
    facts = convert(str(tmp_path / "roberta"), str(tmp_path / "twin"), window=32, positions=128)
    assert "longformer" in facts["converted"]
    twin = load(str(tmp_path / "twin"))
    assert twin.facts["model_type"] == "longformer" and twin.facts["longest"] == 128
    ids = twin.tokenizer("w5 w6 w7 w8")["input_ids"]
    expected = probing.everything(roberta, ids)[0][-1]
    np.testing.assert_allclose(states(twin.model, ids)[-1], expected, atol=2e-5)
    with pytest.raises(UserError, match="not empty"):
        convert(str(tmp_path / "roberta"), str(tmp_path / "twin"))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bert", {}, "no Longformer twin"),
        ("roberta", {"window": 7}, "even"),
        ("roberta", {"positions": 60}, "has 64 already"),
    ],
)
def test_impossible_twins_are_refused(kind, options, message):
    with pytest.raises(UserError, match=message):
        longformer_twin(tiny.model_of(kind), **options)


def test_the_command_writes_the_twin_or_says_in_one_line_why_not(tmp_path):
    tiny.save("roberta", tmp_path / "roberta")
    words = [str(tmp_path / "roberta"), str(tmp_path / "twin"), "--window", "8", "--positions", "100"]
    command.main(words)
    found = load(str(tmp_path / "twin"))
    assert found.facts["model_type"] == "longformer" and found.facts["longest"] == 100
    with pytest.raises(SystemExit, match=r"clusterlens: .* is not empty"):
        command.main(words)
