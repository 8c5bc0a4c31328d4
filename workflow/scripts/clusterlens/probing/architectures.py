"""The five classes of encoders that can be probed, and where each keeps the parts of a layer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn
from transformers import (
    AlbertModel,
    BertModel,
    LongformerModel,
    PreTrainedModel,
    RobertaModel,
    T5EncoderModel,
)
from transformers.utils import logging


@dataclass(frozen=True)
class Part:
    """One layer in the order of application; layers that share their weights are the same modules."""

    layer: nn.Module  # takes a hidden state and gives the next one
    attention: nn.Module  # gives the attention maps beside its output
    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear
    scale: float  # what a product of query and key is multiplied with before the softmax


@dataclass(frozen=True)
class Architecture:
    """A class of Hugging Face's, and how to take one of its models apart."""

    model: type[PreTrainedModel]
    parts: Callable[[PreTrainedModel], list[Part]]
    options: tuple[tuple[str, bool], ...] = (("add_pooling_layer", False),)
    position_offset: bool = False  # positions are counted from pad_token_id + 1


def albert_parts(model: PreTrainedModel) -> list[Part]:
    """ALBERT's group for each of the layers that its depth asks for, as its encoder chooses it."""
    encoder, depth = model.encoder, model.config.num_hidden_layers
    groups = encoder.albert_layer_groups
    order = [groups[int(index / (depth / len(groups)))] for index in range(depth)]
    return [albert_part(layer) for group in order for layer in group.albert_layers]


def albert_part(layer: nn.Module) -> Part:
    a = layer.attention
    return Part(layer, a, a.query, a.key, a.value, a.dense, a.scaling)


def bert_parts(model: PreTrainedModel) -> list[Part]:
    """BERT, RoBERTa and Longformer name their parts alike."""
    return [bert_part(layer) for layer in model.encoder.layer]


def bert_part(layer: nn.Module) -> Part:
    a = layer.attention.self
    head_dim = a.head_dim if hasattr(a, "head_dim") else a.attention_head_size
    return Part(layer, a, a.query, a.key, a.value, layer.attention.output.dense, head_dim**-0.5)


def t5_parts(model: PreTrainedModel) -> list[Part]:
    return [t5_part(block) for block in model.encoder.block]


def t5_part(block: nn.Module) -> Part:
    """T5 does not scale its scores."""
    a = block.layer[0].SelfAttention
    return Part(block, a, a.q, a.k, a.v, a.o, a.scaling)


ARCHITECTURES = {
    "albert": Architecture(AlbertModel, albert_parts),
    "bert": Architecture(BertModel, bert_parts),
    "longformer": Architecture(LongformerModel, bert_parts, position_offset=True),
    "roberta": Architecture(RobertaModel, bert_parts, position_offset=True),
    "t5": Architecture(T5EncoderModel, t5_parts, options=()),
}


def architecture_of(model: PreTrainedModel) -> Architecture:
    return ARCHITECTURES[model.config.model_type]


def parts(model: PreTrainedModel) -> list[Part]:
    """All layers of a model in the order of application."""
    return architecture_of(model).parts(model)


def longest(model: PreTrainedModel) -> int | None:
    """The most tokens that a model has positions for; None where positions are relative."""
    config = model.config
    if not hasattr(config, "max_position_embeddings"):
        return None
    offset = config.pad_token_id + 1 if architecture_of(model).position_offset else 0
    return config.max_position_embeddings - offset


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no reports from transformers: what matters of them is checked."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
