"""Hidden states and attention maps layer by layer while the model runs: no more than one layer of one batch is held."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from clusterlens.errors import UserError
from clusterlens.probing.architectures import Part, longest, parts, quiet
from clusterlens.probing.bands import dense_maps


@dataclass(frozen=True)
class Layer:
    """What one layer made of one batch; texts are padded on the right."""

    index: int  # 0 for the embeddings, l for what the l-th layer gives
    first: int  # number of the batch's first text among all texts
    lengths: tuple[int, ...]  # tokens of each text
    hidden: Tensor  # (B, n, d)
    maps: Tensor | None  # (B, H, n, n), the attention that made `hidden`; None for the embeddings and where not asked
    half_window: int | None = None  # how far a token of Longformer sees to each side
    global_tokens: tuple[int, ...] = ()

    def texts(self) -> Iterator[tuple[int, Tensor, Any]]:
        """Number, hidden state (n, d) and maps (H, n, n; None where not asked) of every text, without its padding."""
        for place, n in enumerate(self.lengths):
            maps = None if self.maps is None else self.maps[place, :, :n, :n]
            yield self.first + place, self.hidden[place, :n], maps


Visitor = Callable[[Layer], None]


def capture(
    model: PreTrainedModel,
    texts: Sequence[Sequence[int]],
    visitors: Sequence[Visitor],
    *,
    batch_size: int = 4,
    maps: bool = True,
    global_tokens: Sequence[int] = (),
    as_stored: bool = False,
) -> None:
    """Show every layer of every batch of token ids to all visitors, which keep what they need and nothing more.

    The last state of T5 is the one after its final norm, as `output_hidden_states` has it. `global_tokens` are
    Longformer's positions with global attention. `as_stored` shows a hidden state only after the next layer has run, as
    `output_hidden_states` would hold it: a layer that writes to its input (Longformer with Q = I) changes it; no maps.
    """
    check(model, texts, batch_size=batch_size, global_tokens=global_tokens)
    if as_stored and maps:
        raise ValueError("as_stored shows hidden states only: pass maps=False")
    watch = Watch(model, visitors, maps=maps, as_stored=as_stored, global_tokens=tuple(global_tokens))
    with torch.inference_mode(), quiet(), watch.attached():
        for first in range(0, len(texts), batch_size):
            watch.run(texts[first : first + batch_size], first)


def check(model: PreTrainedModel, texts: Sequence[Sequence[int]], *, batch_size: int, global_tokens) -> None:
    """Refuse what the model cannot read, before it fails somewhere inside."""
    if batch_size < 1:
        raise UserError(f"batch_size is {batch_size}: it has to be 1 or more")
    if not texts or not all(texts):
        raise UserError("there is no text to probe, or one without any token")
    limit, vocabulary = longest(model), model.config.vocab_size
    most, highest = max(map(len, texts)), max(max(ids) for ids in texts)
    if limit is not None and most > limit:
        raise UserError(f"a text of {most} tokens, but the model has positions for {limit}: set max_tokens to {limit}")
    if highest >= vocabulary:
        raise UserError(
            f"token {highest} is not among the model's {vocabulary}: the tokenizer belongs to another checkpoint"
        )
    if global_tokens and model.config.model_type != "longformer":
        raise UserError(f"global tokens are Longformer's: a {model.config.model_type} sees all tokens anyway")
    shortest = min(map(len, texts))
    for token in global_tokens:
        if not 0 <= token < shortest:
            raise UserError(f"global token {token} is not in every text: the shortest has {shortest} tokens")


class Watch:
    """The hooks on one model, and the one layer that they hold at a time."""

    def __init__(self, model: PreTrainedModel, visitors, *, maps: bool, as_stored: bool, global_tokens):
        self.model, self.visitors = model, visitors
        self.maps_wanted, self.as_stored = maps, as_stored
        self.parts = parts(model)
        self.longformer = model.config.model_type == "longformer"
        self.final_norm = model.encoder.final_layer_norm if model.config.model_type == "t5" else None
        self.global_tokens = global_tokens
        self.first = 0
        self.lengths: tuple[int, ...] = ()
        self.calls = 0
        self.held: Tensor | None = None  # the maps of the layer that is running
        self.waiting: tuple[int, Tensor] | None = None

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Hooks on every distinct module, taken off again whatever happens."""
        layers = unique(part.layer for part in self.parts)
        handles = [layer.register_forward_pre_hook(self.before_layer) for layer in layers]
        handles += [layer.register_forward_hook(self.after_layer) for layer in layers]
        for attention in unique(part.attention for part in self.parts) if self.maps_wanted else ():
            if self.longformer:
                handles.append(attention.register_forward_pre_hook(ask_for_maps, with_kwargs=True))
                handles.append(attention.register_forward_hook(self.after_longformer_attention, with_kwargs=True))
            else:
                handles.append(attention.register_forward_hook(self.after_attention))
        if self.final_norm is not None:
            handles.append(self.final_norm.register_forward_hook(self.after_final_norm))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def run(self, batch: Sequence[Sequence[int]], first: int) -> None:
        """One forward pass over a batch, its texts padded on the right and the padding masked."""
        self.first, self.lengths, self.calls = first, tuple(map(len, batch)), 0
        device = self.model.device
        pad = self.model.config.pad_token_id or 0
        ids = nn.utils.rnn.pad_sequence([torch.tensor(text) for text in batch], batch_first=True, padding_value=pad)
        mask = torch.arange(ids.shape[1]) < torch.tensor(self.lengths)[:, None]
        inputs = {"input_ids": ids.to(device), "attention_mask": mask.long().to(device)}
        if self.longformer:
            chosen = torch.zeros_like(ids)
            chosen[:, list(self.global_tokens)] = 1
            inputs["global_attention_mask"] = chosen.to(device)
        try:
            self.model(**inputs)
        finally:
            self.held = None
        self.show_waiting()

    def before_layer(self, module: nn.Module, inputs: tuple) -> None:
        if self.calls == 0:
            self.show(0, inputs[0])

    def after_layer(self, module: nn.Module, inputs: tuple, output) -> None:
        self.calls += 1
        if self.calls < len(self.parts) or self.final_norm is None:
            self.show(self.calls, output[0] if isinstance(output, tuple) else output)

    def after_final_norm(self, module: nn.Module, inputs: tuple, output: Tensor) -> None:
        self.show(self.calls, output)

    def after_attention(self, module: nn.Module, inputs: tuple, output: tuple) -> None:
        self.held = output[-1]

    def after_longformer_attention(self, module: nn.Module, inputs: tuple, given: dict, output: tuple) -> tuple:
        """Keep the maps in dense form, and hand on only what the layer would have got without being asked for them."""
        rows = output[2] if len(output) > 2 else None
        n = max(self.lengths)
        maps = dense_maps(output[1], rows, given["is_index_global_attn"], half=module.one_sided_attn_window_size)
        self.held = maps[..., :n, :n]
        return output[:1]

    def show(self, index: int, hidden: Tensor) -> None:
        if self.as_stored:
            self.show_waiting()
            self.waiting = (index, hidden)
        else:
            self.visit(index, hidden)

    def show_waiting(self) -> None:
        if self.waiting is not None:
            index, hidden = self.waiting
            self.waiting = None
            self.visit(index, hidden)

    def visit(self, index: int, hidden: Tensor) -> None:
        n = max(self.lengths)  # Longformer pads further, to whole windows
        part: Part | None = self.parts[index - 1] if index else None
        half = part.attention.one_sided_attn_window_size if part and self.longformer else None
        maps, self.held = self.held if index else None, None
        layer = Layer(index, self.first, self.lengths, hidden[:, :n], maps, half, self.global_tokens)
        for visitor in self.visitors:
            visitor(layer)


def unique(modules) -> list[nn.Module]:
    """Each module once, in order: shared layers are one module."""
    return list(dict.fromkeys(modules))


def ask_for_maps(module: nn.Module, inputs: tuple, given: dict) -> tuple[tuple, dict]:
    """Longformer gives its maps only when asked; asked here, its encoder does not gather those of all layers."""
    return inputs, given | {"output_attentions": True}
