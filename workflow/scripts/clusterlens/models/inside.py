"""What happens inside an image model while it runs: tokens behind each block, head maps, operations of its layers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from clusterlens.metrics.correlation import HeadCorrelation
from clusterlens.metrics.tokens import TokenSimilarity
from clusterlens.models.image_models import build
from clusterlens.models.spikformer import Spikformer

REAL_INPUTS = ("patches.stages.0.conv", "head")  # of Spikformer: the image, and averages of spikes


@contextmanager
def block_tokens(model: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Collect the tokens before the first block and behind each block, (B, N, D)."""
    found: list[torch.Tensor] = []
    hooks = [model.blocks[0].register_forward_pre_hook(lambda _, inputs: found.append(of_patches(model, inputs[0])))]
    for block in model.blocks:
        hooks.append(block.register_forward_hook(lambda _, __, output: found.append(of_patches(model, output))))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def of_patches(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The tokens of the patches: without ViT's class token, and averaged over Spikformer's time steps."""
    if isinstance(model, Spikformer):
        return x.view(model.time_steps, -1, model.tokens, x.shape[-1]).mean(0)
    return x[:, model.num_prefix_tokens :]


@torch.no_grad()
def describe_layers(
    model: nn.Module, batches: list[torch.Tensor]
) -> tuple[list[TokenSimilarity], list[HeadCorrelation]]:
    """Tokens of layers 0 (the embedding) to the last, and heads of layers 1 to the last, over all images."""
    tokens = [TokenSimilarity() for _ in range(len(model.blocks) + 1)]
    heads: list[HeadCorrelation] = []
    for batch in batches:
        with block_tokens(model) as found:
            maps = model.attention_maps(batch)
        heads = heads or [HeadCorrelation(layer.shape[1]) for layer in maps]
        for similarity, seen in zip(tokens, found, strict=True):
            similarity.add(seen)
        for correlation, layer in zip(heads, maps, strict=True):
            correlation.add(layer)
    return tokens, heads


@torch.no_grad()
def untrained(run: str, architecture: dict, *, seed: int, images: torch.Tensor) -> nn.Module:
    """The model as initialised, its batch normalisation fitted to these images: with its defaults few neurons fire."""
    torch.manual_seed(seed)
    model = build(run, architecture).to(images.device)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 1.0
    model.train()(images)
    return model.eval()


@torch.no_grad()
def operations(model: nn.Module, batches: list[torch.Tensor]) -> dict[str, float]:
    """Operations per image of linear and convolutional layers.

    `macs` counts every product, as for a dense input. A layer fed by spikes adds a weight for each spike and each of
    its outputs, `additions` = Σ_l r_l MACs_l with r_l its mean input; the others need all, `multiply_adds`.
    """
    total = {"macs": 0.0, "multiply_adds": 0.0, "additions": 0.0}

    def count(layer: nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        macs = output.numel() * layer.weight[0].numel()
        total["macs"] += macs
        if layer in spiking:
            total["additions"] += float(inputs[0].mean(dtype=torch.float64)) * macs
        else:
            total["multiply_adds"] += macs

    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, nn.Linear | nn.Conv2d)}
    fed_by_spikes = [name for name in layers if isinstance(model, Spikformer) and name not in REAL_INPUTS]
    spiking = {layers[name] for name in fed_by_spikes}
    hooks = [layer.register_forward_hook(count) for layer in layers.values()]
    for batch in batches:
        model(batch)
    for hook in hooks:
        hook.remove()
    images = sum(len(batch) for batch in batches)
    return {name: value / images for name, value in total.items()}
