"""Layers seen one by one equal those that the model records all at once, whatever the batch and the padding."""

import weakref

import numpy as np
import pytest
import torch

from clusterlens.errors import UserError
from clusterlens.probing.capture import capture
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")


class Everything:
    """Keeps all that it is shown."""

    def __init__(self):
        self.hidden, self.maps, self.seen = {}, {}, []

    def add(self, layer):
        self.seen.append((layer.first, layer.index))
        for text, hidden, maps in layer.texts():
            self.hidden[text, layer.index] = hidden.clone().numpy()
            if maps is not None:
                self.maps[text, layer.index] = maps.clone().numpy()


def captured(model, texts, **options) -> Everything:
    kept = Everything()
    capture(model, texts, [kept.add], **options)
    return kept


@pytest.mark.parametrize("kind", ("albert", "bert", "roberta", "t5"))
def test_layers_equal_what_the_model_records(kind):
    model = tiny.model_of(kind)
    texts = tiny.texts_of([13, 5, 9])
    kept = captured(model, texts, batch_size=2)
    for number, ids in enumerate(texts):
        hidden, maps = probing.everything(model, ids)
        assert len(hidden) == 4 and len(maps) == 3
        for index, state in enumerate(hidden):
            np.testing.assert_allclose(kept.hidden[number, index], state, atol=2e-5)
        for index, expected in enumerate(maps, 1):
            np.testing.assert_allclose(kept.maps[number, index], expected, atol=2e-5)
    assert kept.seen == [(first, index) for first in (0, 2) for index in range(4)]


def dense_reference(model, x: torch.Tensor, layer: int, tokens: list[int]) -> np.ndarray:
    """Longformer's maps from its definition: an n x n mask, and rows of global tokens with their own projections."""
    attention = model.encoder.layer[layer].attention.self
    n, heads = len(x), attention.num_heads
    mask = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= attention.one_sided_attn_window_size
    mask[:, tokens] = True

    def softmax(query, key, allowed):
        q, k = (linear(x).detach().numpy().reshape(n, heads, -1).transpose(1, 0, 2) for linear in (query, key))
        scores = np.where(allowed, q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True)

    maps = softmax(attention.query, attention.key, mask)
    maps[:, tokens] = softmax(attention.query_global, attention.key_global, np.ones((n, n), dtype=bool))[:, tokens]
    return maps


@pytest.mark.parametrize("tokens", ([], [0], [2, 9]))
def test_longformers_bands_become_the_maps_of_its_definition(tokens):
    model = tiny.model_of("longformer")
    texts = tiny.texts_of([21, 11])
    kept = captured(model, texts, batch_size=2, global_tokens=tokens)
    for number, ids in enumerate(texts):
        mask = torch.zeros(1, len(ids), dtype=torch.long)
        mask[:, tokens] = 1
        hidden, _ = probing.everything(model, ids, global_attention_mask=mask)
        for index, state in enumerate(hidden):
            np.testing.assert_allclose(kept.hidden[number, index], state, atol=2e-5)
        for index in range(3):
            expected = dense_reference(model, torch.tensor(hidden[index]), index, tokens)
            np.testing.assert_allclose(kept.maps[number, index + 1], expected, atol=2e-5)
            np.testing.assert_allclose(kept.maps[number, index + 1].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_batch_size_and_padding_change_nothing(kind):
    model = tiny.model_of(kind)
    texts = tiny.texts_of([3, 17, 8, 12, 17])
    alone = captured(model, texts, batch_size=1)
    for size in (2, 5):
        together = captured(model, texts, batch_size=size)
        assert together.hidden.keys() == alone.hidden.keys() and together.maps.keys() == alone.maps.keys()
        for place, state in alone.hidden.items():
            np.testing.assert_allclose(together.hidden[place], state, atol=2e-5)
        for place, maps in alone.maps.items():
            np.testing.assert_allclose(together.maps[place], maps, atol=2e-5)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_no_more_than_one_layers_maps_are_alive(kind):
    model = tiny.model_of(kind)
    alive = []
    most = 0

    def visit(layer):
        nonlocal most
        if layer.maps is not None:
            alive.append(weakref.ref(layer.maps))
        most = max(most, sum(one() is not None for one in alive))

    capture(model, tiny.texts_of([9, 9, 9]), [visit], batch_size=2)
    assert len(alive) == 6 and most == 1


def test_longformers_layers_do_not_hand_their_bands_on():
    """What a layer gives stays alive until the next one is done."""
    model = tiny.model_of("longformer")
    given = []
    for layer in model.encoder.layer:
        layer.register_forward_hook(lambda module, inputs, output: given.append(len(output)))
    capture(model, tiny.texts_of([9]), [], global_tokens=[0])
    assert given == [1, 1, 1]


def test_hooks_come_off_even_when_a_visitor_fails():
    model = tiny.model_of("albert")

    def fail(layer):
        raise RuntimeError("visitor")

    with pytest.raises(RuntimeError, match="visitor"):
        capture(model, tiny.texts_of([4]), [fail])
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_states_without_maps_are_the_same(kind):
    model, texts = tiny.model_of(kind), tiny.texts_of([7, 11])
    with_maps, without = captured(model, texts), captured(model, texts, maps=False)
    assert not without.maps
    for place, state in with_maps.hidden.items():
        np.testing.assert_array_equal(without.hidden[place], state)


def test_wrong_texts_are_refused_in_one_line():
    model = tiny.model_of("roberta")
    for texts, message in (
        ([], "no text"),
        ([[5], []], "no text"),
        ([[5] * 65], "positions for 64"),
        ([[tiny.VOCABULARY]], "another checkpoint"),
    ):
        with pytest.raises(UserError, match=message):
            capture(model, texts, [])
    with pytest.raises(UserError, match="batch_size"):
        capture(model, [[5]], [], batch_size=0)
    with pytest.raises(UserError, match="Longformer"):
        capture(model, [[5]], [], global_tokens=[0])
    with pytest.raises(UserError, match="not in every text"):
        capture(tiny.model_of("longformer"), [[5, 6]], [], global_tokens=[2])
