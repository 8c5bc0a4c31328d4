"""Tiny ALBERT, T5, RoBERTa and Longformer of the real classes, and a tokenizer learned from the text they train on."""

from collections.abc import Iterable
from dataclasses import dataclass

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    LongformerConfig,
    LongformerForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

SPANS = 8  # of a text that T5 has to fill in, each with a sentinel of its own


@dataclass(frozen=True)
class Kind:
    """A class of models: the special tokens in the order of their ids, and which of them have a role."""

    special: tuple[str, ...]
    pad: str
    mask: str
    first: str | None  # opens every text
    last: str


BERT_LIKE = Kind(("<s>", "<pad>", "</s>", "<unk>", "<mask>"), "<pad>", "<mask>", "<s>", "</s>")
KINDS = {
    "albert": Kind(("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"), "<pad>", "[MASK]", "[CLS]", "[SEP]"),
    "roberta": BERT_LIKE,
    "longformer": BERT_LIKE,
    "t5": Kind(
        ("<pad>", "</s>", "<unk>", *(f"<extra_id_{i}>" for i in range(SPANS))), "<pad>", "<extra_id_0>", None, "</s>"
    ),
}


def kind_of(dataset: str) -> str:
    """The class of a checkpoint, from its name in the registry: `albert-xlarge-v2` is an albert."""
    return dataset.partition("-")[0]


def learn_tokenizer(kind: str, texts: Iterable[str], *, vocabulary: int) -> PreTrainedTokenizerFast:
    """Byte pairs of these texts: no text is unknown to it."""
    about = KINDS[kind]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=list(about.special), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    around = [name for name in (about.first, about.last) if name]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{about.first} $A {about.last}" if about.first else f"$A {about.last}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in around],
    )
    roles = {"pad_token": about.pad, "mask_token": about.mask, "unk_token": "<unk>"}
    roles |= {"eos_token": about.last} if about.first is None else {"cls_token": about.first, "sep_token": about.last}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles)


def build(kind: str, tokenizer: PreTrainedTokenizerFast, settings: dict) -> PreTrainedModel:
    """The model before training, its weights drawn from torch's random state."""
    hidden, layers, heads = settings["hidden_dimension"], settings["layers"], settings["attention_heads"]
    common = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    if kind == "t5":
        return T5ForConditionalGeneration(
            T5Config(
                d_model=hidden, d_kv=hidden // heads, d_ff=4 * hidden, num_layers=layers, num_heads=heads,
                num_decoder_layers=1, dropout_rate=0.0, decoder_start_token_id=tokenizer.pad_token_id,
                eos_token_id=tokenizer.eos_token_id, **common,
            )
        )  # fmt: skip
    common |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    common |= {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    common |= {"intermediate_size": 4 * hidden, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    common["initializer_range"] = 0.5 * hidden**-0.5  # the usual 0.02 is made for widths of a thousand and more
    if kind == "albert":
        return AlbertForMaskedLM(AlbertConfig(embedding_size=hidden // 2, max_position_embeddings=512, **common))
    common |= {"max_position_embeddings": 512 + tokenizer.pad_token_id + 1, "type_vocab_size": 1}
    if kind == "roberta":
        return RobertaForMaskedLM(RobertaConfig(**common))
    return LongformerForMaskedLM(LongformerConfig(attention_window=[settings["window"]] * layers, **common))
