"""ViT and Spikformer: sizes of S Table 1, equality with the plain model, batch-size invariance, refusals."""

import pytest
import timm
import torch
from torch import nn

from clusterlens.errors import UserError
from clusterlens.metrics.complexity import complexity, in_words
from clusterlens.models import events
from clusterlens.models.image_models import RUNS, build, check_images
from clusterlens.models.neurons import KERNELS, count_spikes
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml
from reference.spikformer import PlainSpikformer

PAPER = read_yaml(ROOT / "config" / "config.yaml")["architecture"]
SMALL = PAPER | {"image_size": 16, "embedding_dimension": 32, "depth": 2, "heads": 2, "time_steps": 3}

TABLE1 = {
    "vit": (21_342_346, 1_383_867_648, "21.34M", "1.38B"),
    "vit_no_mlp": (7_140_490, 462_544_128, "7.14M", "462.54M"),
    "vit_no_skip": (21_328_522, 1_383_867_648, "21.33M", "1.38B"),
    "spikformer": (23_581_882, 7_359_631_104, "23.58M", "7.36B"),
    "spikformer_no_mlp": (9_347_770, 3_712_159_488, "9.35M", "3.71B"),
    "spikformer_no_skip": (23_581_882, 7_359_631_104, "23.58M", "7.36B"),
}


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("run", TABLE1)
def test_table1_is_exact(run):
    parameters, macs = complexity(build(run, PAPER), PAPER["image_size"])
    assert (parameters, macs, in_words(parameters), in_words(macs)) == TABLE1[run]


def test_vit_is_timms():
    torch.manual_seed(0)
    ours = build("vit", SMALL).eval()
    options = {"img_size": 16, "patch_size": 4, "embed_dim": 32, "depth": 2, "num_heads": 2, "num_classes": 10}
    theirs = timm.models.VisionTransformer(**options).eval()
    theirs.load_state_dict(ours.state_dict())
    images = torch.randn(3, 3, 16, 16)
    torch.testing.assert_close(ours(images), theirs(images))


@pytest.mark.parametrize("run", ["vit", "vit_no_mlp", "vit_no_skip"])
def test_vit_maps_are_those_it_uses(run, monkeypatch):
    model = build(run, SMALL).eval()
    used = []
    for block in model.blocks:
        block.attn.fused_attn = False
        block.attn.attn_drop.register_forward_hook(lambda module, inputs, output: used.append(output))
    images = torch.randn(2, 3, 16, 16)
    model(images)
    expected = used.copy()
    for got, wanted in zip(model.attention_maps(images), expected, strict=True):
        torch.testing.assert_close(got, wanted)
        torch.testing.assert_close(got.sum(-1), torch.ones(2, 2, 17))


def plain_twin(ours: nn.Module, **options) -> PlainSpikformer:
    """The plain model with the weights of ours, whose qkv is one matrix where the plain one has three."""
    plain, state = PlainSpikformer(SMALL, **options).double(), ours.state_dict()
    loaded = {}
    for name in plain.state_dict():
        place = name.replace("stages.", "patches.stages.").replace("rpe.", "patches.position.")
        place = place.replace(".attn.", ".attention.").replace(".proj.", ".projection.").replace("attn_lif.", "neuron.")
        place = place.replace(".norm.", ".spike.norm.").replace(".lif.", ".spike.neuron.")
        parts = place.split(".")
        if len(parts) > 3 and parts[2] == "attention" and parts[3] in ("q", "k", "v"):
            third = "qkv".index(parts[3])
            value = state[".".join([*parts[:3], "qkv", *parts[4:]])]
            loaded[name] = value.chunk(3)[third] if value.ndim else value
        else:
            loaded[name] = state[place]
    plain.load_state_dict(loaded)
    return plain


VARIATIONS = [
    ("spikformer", {}),
    ("spikformer_no_mlp", {"mlp": False}),
    ("spikformer_no_skip", {"skip": False}),
]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(("run", "options"), VARIATIONS)
def test_spikformer_equals_the_plain_model(run, options, fused, monkeypatch):
    if fused:
        assert KERNELS.handle is not None, "the kernels did not compile: set-up asks for gcc"
    else:
        for kernels in (KERNELS, events.KERNELS):
            monkeypatch.setattr(kernels, "handle", None)
    torch.manual_seed(1)
    ours = build(run, SMALL).double().train()
    for module in ours.modules():
        if isinstance(module, nn.BatchNorm1d):  # so that every layer fires
            nn.init.normal_(module.bias, 1.0, 0.2)
    plain = plain_twin(ours, **options).train()
    images = torch.randn(4, 3, 16, 16, dtype=torch.float64)
    results = []
    for model in (ours, plain):
        logits = model(images)
        nn.functional.cross_entropy(logits, torch.arange(4)).backward()
        results.append(logits)
    torch.testing.assert_close(*results, rtol=1e-9, atol=1e-9)
    layers = {
        "patches.stages.0.conv": "stages.0.conv",
        "blocks.0.attention.projection.linear": "blocks.0.attn.proj.linear",
    }
    for ours_name, plain_name in layers.items():
        got, wanted = ours.get_submodule(ours_name).weight.grad, plain.get_submodule(plain_name).weight.grad
        assert wanted.abs().max() > 0
        torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5 * float(wanted.abs().max()))
    torch.testing.assert_close(
        ours.patches.position.spike.norm.running_var, plain.rpe.norm.running_var, rtol=1e-9, atol=1e-12
    )
    ours.eval(), plain.eval()
    torch.testing.assert_close(ours(images), plain(images), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("run", RUNS)
def test_output_does_not_depend_on_the_batch(run):
    torch.manual_seed(2)
    model = build(run, SMALL).double()
    images = torch.randn(6, 3, 16, 16, dtype=torch.float64)
    model.train()(images)  # so that running statistics are not the initial ones
    model.eval()
    together = model(images)
    apart = torch.cat([model(part) for part in images.split([1, 2, 3])])
    torch.testing.assert_close(together, apart, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(model(images), together, rtol=0, atol=0)  # no state is left over


def test_spiking_maps_are_averaged_over_time_and_are_eighths():
    torch.manual_seed(3)
    model = build("spikformer", SMALL).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            nn.init.normal_(module.bias, 1.5, 0.5)
    maps = model.attention_maps(torch.randn(2, 3, 16, 16))
    assert [tuple(entry.shape) for entry in maps] == [(2, 2, 16, 16)] * 2
    counts = torch.stack(maps) * 8 * SMALL["time_steps"]
    torch.testing.assert_close(counts, counts.round(), atol=1e-4, rtol=0)
    assert counts.max() > 0


def test_spikes_are_counted_in_evaluation():
    model = build("spikformer", SMALL).eval()
    with count_spikes() as counter, torch.no_grad():
        model(torch.randn(2, 3, 16, 16))
    assert 0 < counter.rate() < 1
    with count_spikes() as counter:
        build("vit", SMALL)(torch.randn(1, 3, 16, 16))
    assert counter.rate() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 5}, "5 heads do not divide the embedding dimension 32"),
        ({"time_steps": 0}, "time_steps is 0"),
        ({"patch_size": 3}, "patches of 3 pixels do not tile an image of 16"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change, message):
    with pytest.raises(UserError, match=message):
        build("spikformer", SMALL | change)


def test_unknown_run_and_other_image_size_are_refused():
    with pytest.raises(UserError, match="did you mean 'vit_no_mlp'"):
        build("vit_nomlp", SMALL)
    with pytest.raises(UserError, match="images are 28x28x1, the model takes 16x16x3"):
        check_images((5, 28, 28, 1), SMALL)
