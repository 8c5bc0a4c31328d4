"""Other depths and head counts for the same weights: ALBERT unrolled, T5's last layer repeated, heads merged."""

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from clusterlens.errors import UserError


def change(config: PreTrainedConfig, *, layers: int | None, heads: int | None) -> None:
    """What a config can say by itself, before the weights are read; the rest is up to `extend`."""
    kind, depth = config.model_type, config.num_hidden_layers
    if layers is not None:
        if layers < 1:
            raise UserError(f"layers is {layers}: it has to be 1 or more")
        if layers > depth and kind not in ("albert", "t5"):
            raise UserError(
                f"{layers} layers asked of a {kind} with {depth}: only albert (whose layers share their weights) and t5"
                " (whose last layer is repeated) can be made deeper"
            )
        config.num_hidden_layers = layers if kind == "albert" else min(layers, depth)
        if kind == "longformer" and not isinstance(config.attention_window, int):
            config.attention_window = config.attention_window[: config.num_hidden_layers]
    if heads is not None:
        if kind == "t5":
            if heads not in (1, config.num_heads):
                raise UserError(f"{heads} heads asked of a t5: its {config.num_heads} heads can be merged into 1 only")
        elif heads < 1 or config.hidden_size % heads:
            raise UserError(f"{heads} heads do not divide the hidden size {config.hidden_size}")
        else:
            config.num_attention_heads = heads


def extend(model: PreTrainedModel, *, layers: int | None, heads: int | None) -> None:
    """T5, once its weights are read: heads merged, then the last layer repeated (T's public code)."""
    if model.config.model_type != "t5":
        return
    if heads == 1 and model.config.num_heads > 1:
        merge_heads(model)
    blocks = model.encoder.block
    if layers is not None and layers > len(blocks):
        # The layers beyond the trained ones are one and the same module: as many copies would compute the same.
        blocks.extend([blocks[-1]] * (layers - len(blocks)))
        model.config.num_layers = layers


@torch.no_grad()
def merge_heads(model: PreTrainedModel) -> None:
    """One head whose query, key, value, output and position bias are the means over all heads."""
    config = model.config
    heads, width = config.num_heads, config.d_kv
    for block in model.encoder.block:
        attention = block.layer[0].SelfAttention
        for name in ("q", "k", "v"):
            weight = getattr(attention, name).weight  # (heads * width, d)
            setattr(attention, name, linear(weight.unflatten(0, (heads, width)).mean(0)))
        attention.o = linear(attention.o.weight.unflatten(1, (heads, width)).mean(1))
        if attention.has_relative_attention_bias:
            bias = attention.relative_attention_bias.weight  # (buckets, heads)
            attention.relative_attention_bias = nn.Embedding.from_pretrained(bias.mean(1, keepdim=True))
        attention.n_heads, attention.inner_dim = 1, width
    config.num_heads = 1


def linear(weight: torch.Tensor) -> nn.Linear:
    """A linear map without bias from its matrix."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight.copy_(weight)
    return layer
