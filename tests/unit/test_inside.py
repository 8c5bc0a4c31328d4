"""What is measured inside the image models: tokens behind blocks, operations of layers, untrained models."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from clusterlens.metrics.energy import energy_table
from clusterlens.metrics.tokens import TokenSimilarity
from clusterlens.models.image_models import build
from clusterlens.models.inside import block_tokens, describe_layers, operations, untrained
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml
from reference.heads import token_similarity

PAPER = read_yaml(ROOT / "config" / "config.yaml")["architecture"]
SMALL = PAPER | {"image_size": 16, "embedding_dimension": 32, "depth": 2, "heads": 2, "time_steps": 3}

pytestmark = pytest.mark.usefixtures("one_thread")


def test_token_similarity_is_the_double_loops_streamed():
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(5, 6, 4))
    tokens[1, 2] = 0  # a silent token
    tokens[2] = 0  # a silent image
    tokens[3] = rng.normal(size=4)  # one point
    tokens[4, 1:] = 0  # one token alone has no pair
    measure = TokenSimilarity()
    for part in torch.from_numpy(tokens).split([1, 3, 1]):
        measure.add(part)
    np.testing.assert_allclose(list(measure.measures().values()), token_similarity(tokens), rtol=1e-10)


def test_two_opposite_groups_have_rank_one_and_no_mean_cosine():
    measure = TokenSimilarity()
    measure.add(torch.tensor([1.0, -1.0] * 50)[None, :, None] * torch.ones(8))
    found = measure.measures()
    assert found["mean_cosine"] == pytest.approx(-1 / 99)
    assert found["effective_rank"] == pytest.approx(1.0)


def test_silence_has_no_direction():
    measure = TokenSimilarity()
    measure.add(torch.zeros(2, 3, 4))
    found = measure.measures()
    assert np.isnan(found["mean_cosine"]) and np.isnan(found["effective_rank"]) and found["silent_tokens"] == 1


@torch.no_grad()
def test_tokens_are_those_behind_each_block():
    torch.manual_seed(0)
    images = torch.randn(4, 3, 16, 16)
    spikformer = untrained("spikformer", SMALL, seed=0, images=images)
    with block_tokens(spikformer) as found:
        logits = spikformer(images)
    assert [tuple(layer.shape) for layer in found] == [(4, 16, 32)] * 3
    torch.testing.assert_close(spikformer.head(found[-1].mean(1)), logits)  # it averages time and tokens, in any order
    vit = build("vit", SMALL).eval()
    with block_tokens(vit) as found:
        vit(images)
    torch.testing.assert_close(vit.norm(found[-1]), vit.forward_features(images)[:, 1:])
    assert not any(block._forward_hooks for block in vit.blocks)


def test_without_skip_connections_an_untrained_vit_gathers_its_tokens():
    images = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    rank = {}
    for run in ("vit", "vit_no_skip"):
        tokens, heads = describe_layers(untrained(run, SMALL, seed=0, images=images), images.split(3))
        assert (len(tokens), len(heads)) == (3, 2)
        rank[run] = tokens[-1].measures()["effective_rank"]
    assert rank["vit_no_skip"] < 1.1 < 2 < rank["vit"]


def test_an_untrained_spikformer_fires_in_every_layer():
    images = torch.randn(8, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    model = untrained("spikformer", SMALL, seed=0, images=images)
    tokens, _ = describe_layers(model, [images])
    assert all(layer.measures()["silent_tokens"] < 0.5 for layer in tokens)
    other = untrained("spikformer", SMALL, seed=0, images=images)
    torch.testing.assert_close(model(images), other(images), rtol=0, atol=0)


def test_operations_of_the_papers_models_in_closed_form():
    # Patches, 12 blocks of qkv, projection and MLP, and the classifier; thop adds norms (S Table 1).
    D, N, T = 384, 64, 4
    image = torch.randn(1, 3, 32, 32)
    block = 3 * D * D + D * D + 8 * D * D
    vit = operations(build("vit", PAPER).eval(), [image])
    assert vit["macs"] == vit["multiply_adds"] == N * 48 * D + 12 * (N + 1) * block + 10 * D
    spikformer = operations(build("spikformer", PAPER).eval(), [image])
    first = 1024 * 27 * 48
    stages = 9 * (1024 * 48 * 96 + 1024 * 96 * 192 + 256 * 192 * 384 + 64 * 384 * 384)
    assert spikformer["multiply_adds"] == T * first + 10 * D
    assert spikformer["macs"] == T * (first + stages + 12 * N * block) + 10 * D
    assert spikformer["additions"] < spikformer["macs"]


def test_every_spike_adds_one_weight_per_output():
    torch.manual_seed(0)
    images = torch.randn(6, 3, 16, 16)
    model = untrained("spikformer", SMALL, seed=0, images=images)
    spikes = []

    def count(layer, inputs, output):
        assert torch.equal(inputs[0], inputs[0].round())
        weights = 9 * layer.in_channels if isinstance(layer, nn.Conv2d) else layer.in_features
        outputs = output.numel() / inputs[0].numel() * weights  # per input
        spikes.append(float(inputs[0].double().sum()) * outputs)

    found = operations(model, images.split(4))
    layers = [
        layer
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear | nn.Conv2d) and name not in ("head", "patches.stages.0.conv")
    ]
    for layer in layers:
        layer.register_forward_hook(count)
    with torch.no_grad():
        model(images)
    assert found["additions"] == pytest.approx(sum(spikes) / 6, rel=1e-6)
    assert sum(spikes) > 0


def test_a_spikformer_that_always_fires_costs_more_than_vit():
    image = torch.randn(1, 3, 32, 32)
    vit, spikformer = (operations(build(run, PAPER).eval(), [image]) for run in ("vit", "spikformer"))
    spikformer["additions"] = spikformer["macs"] - spikformer["multiply_adds"]
    table = energy_table(pd.DataFrame([vit, spikformer]).assign(run=["vit", "spikformer"], seed=0))
    assert table.loc[("vit", 0), "Energy (µJ)"] == pytest.approx(6350, rel=0.01)
    assert table.loc[("spikformer", 0), "Energy over ViT"] > 1
