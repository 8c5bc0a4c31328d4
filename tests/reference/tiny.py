"""Tiny models of the real classes with random weights, and a tokenizer, to try the probes on."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    LongformerConfig,
    LongformerModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5EncoderModel,
)

KINDS = ("albert", "bert", "longformer", "roberta", "t5")
VOCABULARY = 60
WINDOW = 8
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "num_attention_heads": 3,
    "num_hidden_layers": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 66,
    "pad_token_id": 1,
    "attn_implementation": "eager",
}


def config_of(kind: str, **changes):
    """Sizes that no two axes share, so that a confusion of axes shows."""
    common = COMMON | changes
    if kind == "t5":
        common |= {"d_model": common.pop("hidden_size"), "d_kv": 7, "d_ff": common.pop("intermediate_size")}
        common |= {"num_heads": common.pop("num_attention_heads"), "num_layers": common.pop("num_hidden_layers")}
        del common["max_position_embeddings"]
        return T5Config(**common | {"pad_token_id": 0, "is_encoder_decoder": False})
    if kind == "albert":
        return AlbertConfig(**{"embedding_size": 10, "pad_token_id": 0} | {k: v for k, v in common.items()})
    if kind == "longformer":
        return LongformerConfig(**{"attention_window": WINDOW} | common)
    return {"bert": BertConfig, "roberta": RobertaConfig}[kind](**common)


def model_of(kind: str, *, seed: int = 0, **changes) -> PreTrainedModel:
    """A model in eval mode whose weights are large enough that attention is far from uniform."""
    classes = {
        "albert": AlbertModel,
        "bert": BertModel,
        "longformer": LongformerModel,
        "roberta": RobertaModel,
        "t5": T5EncoderModel,
    }
    torch.manual_seed(seed)
    options = {} if kind == "t5" else {"add_pooling_layer": False}
    model = classes[kind](config_of(kind, **changes), **options)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if "norm" not in name.lower() and tensor.ndim == 2 and kind != "t5":
                tensor.mul_(10)
            elif tensor.ndim == 1:
                tensor.add_(0.1 * torch.randn_like(tensor))
    return model.eval()


def texts_of(lengths: list[int], *, seed: int = 0) -> list[list[int]]:
    """Random token ids, none of them padding."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]


def save_tokenizer(folder: Path) -> None:
    """A word-level tokenizer with the words w3 to w59."""
    words = {"<s>": 0, "<pad>": 1, "</s>": 2} | {f"w{n}": n for n in range(3, VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w3"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="w3"
    ).save_pretrained(folder)


def save(kind: str, folder: Path, *, tokenizer: bool = True, shard: str | None = None, **changes) -> PreTrainedModel:
    """Write a checkpoint folder and return the model that it holds."""
    model = model_of(kind, **changes)
    model.save_pretrained(folder, **({"max_shard_size": shard} if shard else {}))
    if tokenizer:
        save_tokenizer(folder)
    return model
