"""The architecture of a Longformer."""

from dataclasses import dataclass

from clusterlens.errors import UserError, choose

SCALINGS = ("sdp", "sq_exact", "sq_inplace")
TOKEN_TYPES, NORM_EPSILON = 2, 1e-12  # as Hugging Face's; A names neither


@dataclass(frozen=True)
class LongformerSize:
    """Defaults are those of A Table 2, and Hugging Face's where A is silent."""

    vocabulary: int
    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    layers: int = 6
    positions: int = 1024  # tokens of the longest text
    window: int = 128  # half of it lies on each side of a token
    dropout: float = 0.1
    pad_token: int = 1
    scaling: str = "sdp"
    shared_projections: bool = False

    def __post_init__(self):
        choose("scaling", self.scaling, dict.fromkeys(SCALINGS))
        if self.window < 2 or self.window % 2:
            raise UserError(f"window {self.window} has no half for each side of a token: use an even number from 2")
        if self.hidden % self.heads:
            raise UserError(f"{self.heads} heads do not divide the hidden dimension {self.hidden}: change one of them")
        if not 0 <= self.pad_token < self.vocabulary:
            raise UserError(f"padding token {self.pad_token} is not in the vocabulary: use 0 to {self.vocabulary - 1}")

    @property
    def position_rows(self) -> int:
        """Rows of the table of positions, whose counting starts after the padding token."""
        return self.positions + self.pad_token + 1

    @property
    def hugging_face(self) -> dict:
        """The same architecture as options of transformers' LongformerConfig."""
        return {
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden,
            "num_attention_heads": self.heads,
            "intermediate_size": self.feed_forward,
            "num_hidden_layers": self.layers,
            "max_position_embeddings": self.position_rows,
            "attention_window": self.window,
            "hidden_dropout_prob": self.dropout,
            "attention_probs_dropout_prob": self.dropout,
            "pad_token_id": self.pad_token,
            "type_vocab_size": TOKEN_TYPES,
            "layer_norm_eps": NORM_EPSILON,
        }
