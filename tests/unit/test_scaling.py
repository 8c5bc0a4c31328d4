"""The scaling modes against Hugging Face's Longformer: in place without projections, exact with them."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from transformers import LongformerConfig, LongformerModel
from transformers.models.longformer import modeling_longformer

from clusterlens.attention.hybrid import longformer
from clusterlens.attention.iteration import by_pattern, iterate
from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.scaling import attend
from clusterlens.errors import UserError
from reference import attention as reference

WINDOW, TOKENS = 32, [0, 70]


def hugging_face(identity):
    config = LongformerConfig(hidden_size=3, num_attention_heads=1, attention_window=[WINDOW], num_hidden_layers=1)
    layer = modeling_longformer.LongformerSelfAttention(config, layer_id=0).eval()
    for name in ("query", "key", "value", "query_global", "key_global", "value_global"):
        setattr(layer, name, identity())
    return layer


def forward(layer, x):
    n = x.shape[1]
    mask = torch.zeros(1, n)
    mask[:, TOKENS] = 10000.0
    return layer(
        x,
        attention_mask=mask,
        is_index_masked=mask < 0,
        is_index_global_attn=mask > 0,
        is_global_attn=True,
    )[0]


class Copy(nn.Module):
    def forward(self, x):
        return x.clone()


def tokens(n=128):
    return torch.from_numpy(np.random.default_rng(0).normal(size=(1, n, 3))).float()


def test_in_place_mode_is_hugging_face_without_projections():
    x = tokens()
    given = x.clone()
    z, kept = attend(PATTERNS["longformer"], x, mode="sq_inplace", window=WINDOW, global_tokens=TOKENS)
    theirs = forward(hugging_face(nn.Identity), given)
    torch.testing.assert_close(z, theirs, atol=1e-5, rtol=0)
    torch.testing.assert_close(kept, given, atol=1e-6, rtol=0)
    torch.testing.assert_close(given, x / math.sqrt(3), atol=1e-6, rtol=0)


def test_copying_projections_leave_plain_dot_product_scaling():
    x = tokens()
    given = x.clone()
    theirs = forward(hugging_face(Copy), given)
    assert torch.equal(given, x)
    for mode in ("sdp", "sq_exact"):
        z, kept = attend(PATTERNS["longformer"], x, mode=mode, window=WINDOW, global_tokens=TOKENS)
        torch.testing.assert_close(z, theirs, atol=1e-5, rtol=0)
        assert kept is x


@pytest.mark.parametrize(("mode", "damping"), [("sq_inplace", 3**-0.5), ("sq_inplace_clone", 1.0)])
def test_in_place_modes_are_these_formulas(mode, damping):
    x = tokens(60)[0].double()
    y = x.numpy()
    mask = reference.mask_of("longformer", 60, window=8, global_tokens=[3])
    expected = reference.masked_attention(y, y, y / 3**0.5, mask, 1 / 3)
    expected[3] = reference.masked_attention(y, y, y / 3**0.5, mask, 3**-1.5)[3]
    z, kept = attend(PATTERNS["longformer"], x, mode=mode, window=8, global_tokens=[3])
    np.testing.assert_allclose(z.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(kept.numpy(), y * damping, atol=1e-12)


def test_exact_query_scaling_stays_dot_product_scaling_over_iterations():
    x = tokens(100)[0].double()
    runs = {
        mode: iterate(x, by_pattern("longformer", mode=mode, window=32, global_tokens=[0]), iterations=20)
        for mode in ("sdp", "sq_exact", "sq_inplace", "sq_inplace_clone")
    }
    torch.testing.assert_close(runs["sdp"], runs["sq_exact"], atol=1e-8, rtol=0)
    assert not torch.allclose(runs["sdp"], runs["sq_inplace"], atol=0.1)
    assert not torch.allclose(runs["sq_inplace_clone"], runs["sq_inplace"], atol=0.1)


def projected_forward(self, hidden_states, is_index_global_attn=None, is_index_masked=None, **_):
    """LongformerSelfAttention with our pattern inside: `self.scaling` chooses where the factor 1/√d goes."""
    batch, n, _ = hidden_states.shape
    assert not is_index_masked.any()
    at = is_index_global_attn[0].nonzero().flatten().tolist()

    def heads(project):
        return project(hidden_states).view(batch, n, self.num_heads, self.head_dim).transpose(1, 2)

    root = math.sqrt(self.head_dim)
    q, k, v = heads(self.query), heads(self.key), heads(self.value)
    rows = heads(self.query_global), heads(self.key_global), heads(self.value_global)
    scale = 1 / root
    if self.scaling == "sq_exact":
        q, rows, scale = q / root, (rows[0] / root, *rows[1:]), 1.0
    window = 2 * self.one_sided_attn_window_size
    out = longformer(q, k, v, scale=scale, window=window, global_tokens=at, rows=rows)
    return (out.transpose(1, 2).reshape(batch, n, -1),)


def test_a_full_model_cannot_tell_exact_query_scaling_from_dot_product_scaling(monkeypatch):
    torch.manual_seed(0)
    config = LongformerConfig(
        vocab_size=100,
        hidden_size=32,
        num_attention_heads=4,
        num_hidden_layers=3,
        intermediate_size=64,
        attention_window=[16] * 3,
        max_position_embeddings=130,
        initializer_range=0.3,
    )
    model = LongformerModel(config, add_pooling_layer=False).eval()
    words = torch.randint(3, 100, (2, 96))
    attention = torch.zeros_like(words)
    attention[:, [0, 50]] = 1
    given = {"input_ids": words, "global_attention_mask": attention}
    with torch.no_grad():
        theirs = model(**given).last_hidden_state
        monkeypatch.setattr(modeling_longformer.LongformerSelfAttention, "forward", projected_forward)
        ours = {}
        for mode in ("sdp", "sq_exact"):
            monkeypatch.setattr(modeling_longformer.LongformerSelfAttention, "scaling", mode, raising=False)
            ours[mode] = model(**given).last_hidden_state
    torch.testing.assert_close(ours["sdp"], ours["sq_exact"], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours["sdp"], theirs, atol=1e-4, rtol=0)


def test_modes_that_do_not_exist_or_do_not_apply_are_refused():
    x = tokens(20)[0]
    with pytest.raises(UserError, match="sq_exact"):
        attend(PATTERNS["global"], x, mode="sq")
    with pytest.raises(UserError, match="use 'sdp'"):
        attend(PATTERNS["linear"], x, mode="sq_inplace")
