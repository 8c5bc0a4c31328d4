"""The small Longformer of A Table 2, with Hugging Face's names, shapes and values, and the scalings that A compares.

What the scalings mean, x being the hidden state and d the dimension of a head:

| scaling      | separate projections q, k, v of x              | one projection p of x: q = k = v = p         |
|--------------|------------------------------------------------|----------------------------------------------|
| `sdp`        | scores (q·k)/√d                                | scores (p·p)/√d, values p                    |
| `sq_exact`   | scores (q/√d)·k, the same function             | scores (p/√d)·p, values p, the same function |
| `sq_inplace` | x becomes x/√d, in projections and in the sum: | p becomes p/√d:                              |
|              | scores (q·k)/d but for biases                  | scores (p·p)/d, values p/√d                  |

`sq_exact` is what Hugging Face computes: its query is a tensor of its own, so that dividing it in place divides nothing
else. `sq_inplace` is what the same statement does to a query that shares its tensor: with the hidden state, as in A's
simulations without projections, or with key and value, where all three are one projection. The query of a global token
is a copy and is divided once more.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu

from clusterlens.errors import UserError
from clusterlens.models.banded import Band
from clusterlens.models.dropout import Dropout
from clusterlens.models.longformer_size import NORM_EPSILON, TOKEN_TYPES, LongformerSize
from clusterlens.models.masked_loss import IGNORED, linear_cross_entropy

WEIGHT_SPREAD = 0.02  # of initial weights, as in Hugging Face's


class Embeddings(nn.Module):
    """Token + position + type, normalised. Positions count the tokens that are no padding, from pad_token + 1."""

    def __init__(self, size: LongformerSize):
        super().__init__()
        self.pad_token = size.pad_token
        self.word_embeddings = nn.Embedding(size.vocabulary, size.hidden, padding_idx=size.pad_token)
        self.position_embeddings = nn.Embedding(size.position_rows, size.hidden, padding_idx=size.pad_token)
        self.token_type_embeddings = nn.Embedding(TOKEN_TYPES, size.hidden)
        self.LayerNorm = nn.LayerNorm(size.hidden, eps=NORM_EPSILON)
        self.dropout = Dropout(size.dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        real = tokens != self.pad_token
        position = real.cumsum(dim=1) * real + self.pad_token
        x = self.word_embeddings(tokens) + self.position_embeddings(position) + self.token_type_embeddings.weight[0]
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Module):
    """Attention within the band, and of the global tokens, by projections of their own, to all tokens."""

    def __init__(self, size: LongformerSize):
        super().__init__()
        self.size, self.root = size, (size.hidden // size.heads) ** 0.5
        for suffix in ("", "_global"):
            one = nn.Linear(size.hidden, size.hidden)
            for name in ("query", "key", "value"):
                own = name == "query" or size.shared_projections
                self.add_module(name + suffix, one if own else nn.Linear(size.hidden, size.hidden))

    def forward(self, x: Tensor, band: Band) -> Tensor:
        """(B, n, hidden) to the same."""
        out = self.local(x, band)
        if band.global_tokens:
            chosen = torch.tensor(band.global_tokens, device=x.device)
            out = out.index_copy(1, chosen, self.rows(x, band).to(out.dtype))
        return out

    def local(self, x: Tensor, band: Band) -> Tensor:
        """Attention of every token to those in its window and to the global ones."""
        scaling, heads = self.size.scaling, (self.size.heads, -1)
        if self.size.shared_projections:
            projected = self.query(x).unflatten(-1, heads)
            query = key = value = projected / self.root if scaling == "sq_inplace" else projected
        else:
            query, key, value = (layer(x).unflatten(-1, heads) for layer in (self.query, self.key, self.value))
        query = query / self.root if scaling == "sq_exact" else query
        scale = 1 / self.root if scaling == "sdp" else 1.0
        return band.attend(query, key, value, scale=scale, dropout=self.dropped).flatten(2)

    def rows(self, x: Tensor, band: Band) -> Tensor:
        """Attention of the global tokens to all, (B, global tokens, hidden).

        q·(K x + b) = (K^T q)·x + q·b and Σ_j p_j (V x_j + c) = V Σ_j p_j x_j + c Σ_j p_j: few rows need neither the
        keys nor the values of all tokens.
        """
        heads = (self.size.heads, -1)
        key, value = (layer.weight.unflatten(0, heads) for layer in (self.key_global, self.value_global))
        b, c = (layer.bias.unflatten(0, heads) for layer in (self.key_global, self.value_global))
        query = self.query_global(x[:, list(band.global_tokens)]).unflatten(-1, heads)  # (B, g, heads, d)
        query = query / self.root if self.size.scaling != "sdp" else query
        towards = torch.einsum("bghd,hdc->bghc", query, key).flatten(1, 2)
        scores = (towards @ x.transpose(1, 2)).unflatten(1, query.shape[1:3])  # (B, g, heads, n)
        scores = scores + torch.einsum("bghd,hd->bgh", query, b)[..., None]
        scores = scores / self.root if self.size.scaling == "sdp" else scores
        shares = scores.float().masked_fill(~band.mask[:, None, None], torch.finfo(torch.float32).min).softmax(dim=-1)
        shares = dropout(shares, self.dropped).to(x.dtype)
        mixed = (shares.flatten(1, 2) @ x).unflatten(1, query.shape[1:3])  # (B, g, heads, hidden)
        out = torch.einsum("bghc,hdc->bghd", mixed, value) + shares.sum(dim=-1, keepdim=True) * c
        return out.flatten(2)

    @property
    def dropped(self) -> float:
        return self.size.dropout if self.training else 0.0


class Residual(nn.Module):
    """LayerNorm(x + W y + b)."""

    def __init__(self, size: LongformerSize, width: int):
        super().__init__()
        self.dense = nn.Linear(width, size.hidden)
        self.LayerNorm = nn.LayerNorm(size.hidden, eps=NORM_EPSILON)
        self.dropout = Dropout(size.dropout)

    def forward(self, y: Tensor, x: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(y)) + x)


class Layer(nn.Module):
    """LayerNorm(x + Attention(x)), then LayerNorm(x + FFN(x))."""

    def __init__(self, size: LongformerSize):
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(size), "output": Residual(size, size.hidden)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size.hidden, size.feed_forward)})
        self.output = Residual(size, size.feed_forward)
        divided = size.scaling == "sq_inplace" and not size.shared_projections
        self.entry = 1 / self.attention["self"].root if divided else None

    def forward(self, x: Tensor, band: Band) -> Tensor:
        x = self.enter(x)
        return self.leave(self.attention["self"](x, band), x)

    def at(self, x: Tensor, band: Band, chosen: Tensor) -> Tensor:
        """Only the tokens at these places, counted through the batch, (tokens, hidden)."""
        x = self.enter(x)
        return self.leave(*(t.flatten(0, 1)[chosen] for t in (self.attention["self"](x, band), x)))

    def at_first(self, x: Tensor, band: Band) -> Tensor:
        """Only the first token, which is global, (B, hidden)."""
        x = self.enter(x)
        return self.leave(self.attention["self"].rows(x, band)[:, 0], x[:, 0])

    def enter(self, x: Tensor) -> Tensor:
        return x if self.entry is None else x * self.entry

    def leave(self, attended: Tensor, x: Tensor) -> Tensor:
        x = self.attention["output"](attended, x)
        return self.output(gelu(self.intermediate["dense"](x)), x)


class Longformer(nn.Module):
    """Embeddings and layers; the caller says what it wants of the last layer, so that no more is computed."""

    def __init__(self, size: LongformerSize):
        super().__init__()
        self.size = size
        self.embeddings = Embeddings(size)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer(size) for _ in range(size.layers))})

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor,
        *,
        global_tokens: tuple[int, ...] = (),
        last: Callable[[Layer, Tensor, Band], Tensor] = Layer.__call__,
    ) -> Tensor:
        if tokens.shape[1] > self.size.positions:
            raise UserError(
                f"a text of {tokens.shape[1]} tokens is longer than the model's {self.size.positions} positions: "
                "cut it or raise max_sequence_length"
            )
        x, band = self.embeddings(tokens), Band(mask, self.size.window // 2, global_tokens)
        *layers, final = self.encoder["layer"]
        for layer in layers:
            x = layer(x, band)
        return last(final, x, band)


class MaskedLMHead(nn.Module):
    """W LayerNorm(gelu(dense(x))) + b, W being the embedding of the tokens."""

    def __init__(self, size: LongformerSize, embedding: nn.Embedding):
        super().__init__()
        self.dense = nn.Linear(size.hidden, size.hidden)
        self.layer_norm = nn.LayerNorm(size.hidden, eps=NORM_EPSILON)
        self.decoder = nn.Linear(size.hidden, size.vocabulary)
        self.decoder.weight = embedding.weight
        self.bias = self.decoder.bias

    def features(self, x: Tensor) -> Tensor:
        return self.layer_norm(gelu(self.dense(x)))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.features(x))


class LongformerForMaskedLM(nn.Module):
    """Predicts masked tokens."""

    def __init__(self, size: LongformerSize):
        super().__init__()
        self.longformer = Longformer(size)
        self.lm_head = MaskedLMHead(size, self.longformer.embeddings.word_embeddings)
        self.lm_head.apply(initialise)
        self.longformer.apply(initialise)  # the later of the two: it leaves the shared row of the padding at 0

    def forward(self, tokens: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
        """The mean cross-entropy of the masked tokens, those whose target is not −100; without any it is 0."""
        masked = masked_places(targets)
        x = self.longformer(tokens, mask, last=lambda layer, x, band: layer.at(x, band, masked))
        decoder = self.lm_head.decoder
        return linear_cross_entropy(self.lm_head.features(x), decoder.weight, decoder.bias, targets.flatten()[masked])

    def logits(self, tokens: Tensor, mask: Tensor, *, global_tokens: tuple[int, ...] = ()) -> Tensor:
        """The logits of every token, (B, n, vocabulary)."""
        return self.lm_head(self.longformer(tokens, mask, global_tokens=global_tokens))


def masked_places(targets: Tensor) -> Tensor:
    """Where the masked tokens are, counted through the batch."""
    return (targets.flatten() != IGNORED).nonzero()[:, 0]


class ClassificationHead(nn.Module):
    def __init__(self, size: LongformerSize, classes: int):
        super().__init__()
        self.dense = nn.Linear(size.hidden, size.hidden)
        self.dropout = Dropout(size.dropout)
        self.out_proj = nn.Linear(size.hidden, classes)

    def forward(self, first: Tensor) -> Tensor:
        return self.out_proj(self.dropout(torch.tanh(self.dense(self.dropout(first)))))


class LongformerForClassification(nn.Module):
    """Sorts texts into classes by their first token, which is global."""

    def __init__(self, size: LongformerSize, classes: int = 2):
        super().__init__()
        self.longformer = Longformer(size)
        self.classifier = ClassificationHead(size, classes)
        self.apply(initialise)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The logits of the classes, (B, classes)."""
        return self.classifier(self.longformer(tokens, mask, global_tokens=(0,), last=Layer.at_first))

    def load_encoder(self, state: dict[str, Tensor]) -> None:
        """Start from the encoder of a pre-trained model, given its `state_dict`, ours or Hugging Face's."""
        prefix = "longformer."
        own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        self.longformer.load_state_dict(own)


def initialise(module: nn.Module) -> None:
    """Weights from N(0, 0.02²), biases 0, padding 0."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=WEIGHT_SPREAD)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding) and module.padding_idx is not None:
        nn.init.zeros_(module.weight[module.padding_idx])
