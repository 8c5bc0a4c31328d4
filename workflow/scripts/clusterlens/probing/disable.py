"""Learned weights switched off, part by part: what is left of an encoder is its architecture (A Section 4.3)."""

from copy import deepcopy

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from clusterlens.attention.scaling import MODES
from clusterlens.errors import UserError

LEVELS = ("qkv", "all")
NORMS = ("learned", "plain", "off")
PROJECTIONS = ("query", "key", "value", "query_global", "key_global", "value_global")


class Copy(nn.Module):
    """x ↦ x in memory of its own."""

    def forward(self, x: Tensor) -> Tensor:
        return x.clone()


class Nothing(nn.Module):
    """x ↦ 0."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def disable(
    model: PreTrainedModel, what: str = "qkv", *, norm: str = "learned", scaling: str = "sdp"
) -> PreTrainedModel:
    """The same model without some of its learned weights; the model given stays as it is, and weights are shared.

    `what`: `qkv` makes query, key and value the identity (A Fig. 12); `all` also makes the output projection the
    identity and the feed-forward part nothing, so that a layer is X + A(X) (A Fig. 14). Embeddings stay: they are the
    data. `norm`: the learned layer norms, `plain` ones without learned scale and shift, or `off`.

    `scaling` chooses between the readings of attention/scaling.py. Longformer divides the query in place, and with the
    identity for a projection that is the hidden state itself: `sq_inplace`. With `sq_inplace_clone` attention gets a
    copy of the hidden state; `sdp` and `sq_exact` divide the query alone. BERT and RoBERTa scale the scores: `sdp`.
    """
    kind = model.config.model_type
    allowed = {"longformer": MODES, "roberta": ("sdp",), "bert": ("sdp",)}
    if kind not in allowed:
        raise UserError(f"weights of a {kind} cannot be switched off: allowed are {', '.join(allowed)}")
    for name, value, values in (("what", what, LEVELS), ("norm", norm, NORMS), ("scaling", scaling, allowed[kind])):
        if value not in values:
            raise UserError(f"{name} '{value}' is not possible for a {kind}: allowed: {', '.join(values)}")
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    bare = deepcopy(model, shared)
    for layer in bare.encoder.layer:
        attention = layer.attention.self
        for name in PROJECTIONS:
            if hasattr(attention, name):
                setattr(attention, name, nn.Identity() if scaling.startswith("sq_inplace") else Copy())
        if scaling == "sq_inplace_clone":
            attention.register_forward_pre_hook(copy_input)
        if what == "all":
            layer.attention.output.dense = nn.Identity()
            layer.intermediate, layer.output.dense = nn.Identity(), Nothing()
        if norm != "learned":
            for part in (layer.attention.output, layer.output):
                part.LayerNorm = changed_norm(part.LayerNorm, norm)
    return bare


def changed_norm(learned: nn.LayerNorm, norm: str) -> nn.Module:
    if norm == "off":
        return nn.Identity()
    return nn.LayerNorm(learned.normalized_shape, eps=learned.eps, elementwise_affine=False)


def copy_input(module: nn.Module, inputs: tuple) -> tuple:
    return (inputs[0].clone(), *inputs[1:])
