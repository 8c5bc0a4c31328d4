"""Encoders without their learned weights are the parameter-free attention of clusterlens.attention, step by step."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.scaling import MODES, attend
from clusterlens.errors import UserError
from clusterlens.probing.capture import capture
from clusterlens.probing.disable import disable
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")


def states(model, ids, **options) -> list[torch.Tensor]:
    kept = {}

    def visit(layer):
        kept[layer.index] = layer.hidden[0].clone()

    capture(model, [ids], [visit], maps=False, **options)
    return [kept[index] for index in sorted(kept)]


def split(x: torch.Tensor, heads: int) -> torch.Tensor:
    return x.unflatten(1, (heads, -1)).transpose(0, 1)


def parameter_free(x, pattern, *, mode, heads=3, **parameters):
    """A(X) head by head, and what X has become, both (n, d)."""
    z, kept = attend(PATTERNS[pattern], split(x, heads), mode=mode, **parameters)
    return tuple(t.transpose(0, 1).flatten(1) for t in (z, kept))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tokens", ([], [0, 7]))
def test_longformer_without_weights_is_parameter_free_attention(mode, tokens):
    model = disable(tiny.model_of("longformer"), "all", norm="off", scaling=mode)
    ids = tiny.texts_of([3 * tiny.WINDOW])[0]
    found = states(model, ids, global_tokens=tokens)
    for before, after in pairwise(found):
        z, kept = parameter_free(before, "longformer", mode=mode, window=tiny.WINDOW, global_tokens=tokens)
        torch.testing.assert_close(after, kept + z, atol=2e-5 * float(after.abs().max()), rtol=1e-4)


def test_in_place_scaling_damps_the_residual_and_clean_scaling_does_not():
    ids = tiny.texts_of([24])[0]
    model = tiny.model_of("longformer")
    inplace, clean = (states(disable(model, "all", norm="off", scaling=mode), ids)[1] for mode in ("sq_inplace", "sdp"))
    assert inplace.norm() < 0.7 * clean.norm()


def test_stored_states_are_those_that_the_next_layer_has_divided():
    """`output_hidden_states` holds the tensor that the next layer divides by √(head width)."""
    ids = tiny.texts_of([tiny.WINDOW])[0]
    model = disable(tiny.model_of("longformer"), "all", norm="off", scaling="sq_inplace")
    recorded, _ = probing.everything(model, ids)
    shown, stored = states(model, ids), states(model, ids, as_stored=True)
    for index in range(4):
        np.testing.assert_allclose(stored[index].numpy(), recorded[index], rtol=1e-5)
        factor = 1 if index == 3 else 1 / math.sqrt(8)
        torch.testing.assert_close(stored[index], factor * shown[index], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ("roberta", "bert"))
def test_roberta_without_weights_is_global_attention(kind):
    model = disable(tiny.model_of(kind), "all", norm="off")
    found = states(model, tiny.texts_of([13])[0])
    for before, after in pairwise(found):
        z, kept = parameter_free(before, "global", mode="sdp")
        torch.testing.assert_close(after, kept + z, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ("roberta", "longformer"))
@pytest.mark.parametrize("norm", ("learned", "plain"))
def test_norms_stay_or_lose_what_they_learned(kind, norm):
    whole = tiny.model_of(kind)
    bare = disable(whole, "all", norm=norm)
    found = states(bare, tiny.texts_of([8])[0])
    pattern = {"global": {}} if kind == "roberta" else {"longformer": {"window": 8, "global_tokens": []}}
    [(name, parameters)] = pattern.items()
    for index, (before, after) in enumerate(pairwise(found)):
        z, kept = parameter_free(before, name, mode="sdp", **parameters)
        layer = whole.encoder.layer[index]
        expected = kept + z
        for part in (layer.attention.output, layer.output):
            learned = (part.LayerNorm.weight, part.LayerNorm.bias) if norm == "learned" else (None, None)
            expected = torch.nn.functional.layer_norm(expected, (24,), *learned, part.LayerNorm.eps)
        torch.testing.assert_close(after, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ("roberta", "longformer"))
def test_only_queries_keys_and_values_are_switched_off(kind):
    whole = tiny.model_of(kind)
    bare = disable(whole, "qkv")
    before, after = states(bare, tiny.texts_of([8])[0])[:2]
    parameters = {} if kind == "roberta" else {"window": 8, "global_tokens": []}
    z, _ = parameter_free(before, "global" if kind == "roberta" else "longformer", mode="sdp", **parameters)
    layer = whole.encoder.layer[0]
    with torch.no_grad():
        middle = layer.attention.output(z, before)
        expected = layer.output(layer.intermediate(middle), middle)
    torch.testing.assert_close(after, expected, atol=1e-4, rtol=1e-4)


def test_the_model_given_stays_as_it_is_and_shares_its_weights():
    model = tiny.model_of("longformer")
    ids = tiny.texts_of([8])[0]
    before = states(model, ids)[-1]
    bare = disable(model, "all", norm="off", scaling="sq_inplace_clone")
    states(bare, ids)
    torch.testing.assert_close(states(model, ids)[-1], before)
    assert bare.embeddings.word_embeddings.weight is model.embeddings.word_embeddings.weight


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("albert", {}, "cannot be switched off: allowed are longformer, roberta, bert"),
        ("roberta", {"scaling": "sq_inplace"}, "not possible for a roberta: allowed: sdp"),
        ("longformer", {"scaling": "twice"}, "allowed: sdp, sq_exact"),
        ("longformer", {"what": "half"}, "allowed: qkv, all"),
        ("longformer", {"norm": "maybe"}, "allowed: learned, plain, off"),
    ],
)
def test_impossible_choices_are_refused(kind, options, message):
    with pytest.raises(UserError, match=message):
        disable(tiny.model_of(kind), **options)
