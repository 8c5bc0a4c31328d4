"""The heads of one layer of a model, whatever its class."""

import torch
from transformers import PreTrainedModel

from clusterlens.errors import UserError
from clusterlens.probing.architectures import parts
from clusterlens.probing.heads import Heads


@torch.no_grad()
def heads_of(model: PreTrainedModel, layer: int = 0, *, global_rows: bool = False) -> Heads:
    """All heads of a layer, counted from 0; `global_rows` takes the projections of Longformer's global tokens."""
    all_parts = parts(model)
    if not 0 <= layer < len(all_parts):
        raise UserError(f"layer {layer} does not exist: the model has layers 0 to {len(all_parts) - 1}")
    part = all_parts[layer]
    inputs = {"query": part.query, "key": part.key, "value": part.value}
    if global_rows:
        if model.config.model_type != "longformer":
            raise UserError(f"global rows are Longformer's: a {model.config.model_type} has none")
        inputs = {name: getattr(part.attention, f"{name}_global") for name in inputs}
    count = model.config.num_attention_heads
    split = {name: linear.weight.detach().double().unflatten(0, (count, -1)) for name, linear in inputs.items()}
    output = part.output.weight.detach().double().unflatten(1, (count, -1)).transpose(0, 1)
    return Heads(**split, output=output, scale=part.scale)
