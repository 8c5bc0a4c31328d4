"""A RoBERTa checkpoint as its Longformer twin, by the conversion that Longformer's authors published.

The weights stay; position embeddings are repeated to reach further, and the projections of global tokens start as
copies of the local ones (Beltagy et al. 2020, Section 5). Where a window covers the whole text, the twin computes what
RoBERTa computes. For long texts it is meant to be trained further.
"""

from pathlib import Path

import torch
from torch import Tensor
from transformers import LongformerConfig, LongformerModel, PreTrainedModel

from clusterlens.errors import UserError
from clusterlens.probing.architectures import quiet
from clusterlens.probing.load import load

SAME = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "type_vocab_size", "initializer_range", "layer_norm_eps"),
    *("pad_token_id", "bos_token_id", "eos_token_id"),
)


@torch.no_grad()
def longformer_twin(roberta: PreTrainedModel, *, window: int = 512, positions: int = 4096) -> LongformerModel:
    """The twin with windows of `window` tokens (half on each side) and positions for `positions` tokens."""
    config = roberta.config
    if config.model_type != "roberta":
        raise UserError(f"a {config.model_type} has no Longformer twin: the conversion is from roberta")
    if window < 2 or window % 2:
        raise UserError(f"window {window}: it has to be even, half of it lies on each side")
    offset = config.pad_token_id + 1  # positions are counted from here
    if positions < config.max_position_embeddings - offset:
        raise UserError(f"{positions} positions: the checkpoint has {config.max_position_embeddings - offset} already")
    same = {name: getattr(config, name) for name in SAME}
    same |= {"sep_token_id": config.eos_token_id, "attention_window": [window] * config.num_hidden_layers}
    twin = LongformerModel(
        LongformerConfig(**same, max_position_embeddings=positions + offset), add_pooling_layer=False
    ).to(roberta.device, roberta.dtype)
    weights = {name: tensor for name, tensor in roberta.state_dict().items() if not name.startswith("pooler.")}
    place = "embeddings.position_embeddings.weight"
    weights[place] = repeated(weights[place], offset, positions)
    for name in list(weights):
        for projection in ("query", "key", "value"):
            weights[name.replace(f"self.{projection}.", f"self.{projection}_global.")] = weights[name]
    twin.load_state_dict(weights)
    return twin.eval()


def repeated(learned: Tensor, offset: int, positions: int) -> Tensor:
    """The learned positions one after the other until there are enough; what stands before the first one stays."""
    trained = learned[offset:]
    copies = -(-positions // len(trained))
    return torch.cat([learned[:offset], trained.repeat(copies, 1)[:positions]])


def convert(source: str, target: str, *, window: int = 512, positions: int = 4096) -> dict:
    """Write the Longformer twin of a RoBERTa folder or hub id, with its tokenizer, into the folder `target`."""
    checkpoint = load(source)
    if Path(target).exists() and any(Path(target).iterdir()):
        raise UserError(f"'{target}' is not empty: choose a new folder for the twin")
    with quiet():
        longformer_twin(checkpoint.model, window=window, positions=positions).save_pretrained(target)
        checkpoint.tokenizer.save_pretrained(target)
    return checkpoint.facts | {"converted": f"to longformer, window {window}, {positions} positions"}
