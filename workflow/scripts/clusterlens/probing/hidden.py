"""The tokens of one layer of a checkpoint that reads one text: what a diagnosis can be made on."""

import numpy as np
import torch

from clusterlens.errors import UserError
from clusterlens.probing.capture import capture
from clusterlens.probing.load import load
from clusterlens.probing.statistics import HiddenStates
from clusterlens.probing.text import own_documents, whole


def hidden_states(
    source: str,
    text: str,
    *,
    layer: int | None,
    tokenizer: str | None,
    limit: int,
    device: torch.device | str = "cpu",
) -> tuple[np.ndarray, str]:
    """The hidden states (n, d) of a layer, the last one if None is named, and a line about them.

    The text is read as one, as far as `limit` and the model's positions reach.
    """
    checkpoint = load(source, tokenizer=tokenizer, device=device)
    facts = checkpoint.facts
    chosen = facts["layers"] if layer is None else layer
    if not 0 <= chosen <= facts["layers"]:
        raise UserError(f"layer {layer}: {source} has 0 (the embeddings) to {facts['layers']}")
    paragraph = whole(own_documents(text), checkpoint.tokenizer, max_tokens=min(limit, facts["longest"] or limit))
    kept = HiddenStates(chosen)
    capture(checkpoint.model, [paragraph.ids], [kept.add], maps=False)
    return kept.of(0), f"layer {chosen} of {facts['layers']} of {source} ({facts['model_type']}) on {text}"
