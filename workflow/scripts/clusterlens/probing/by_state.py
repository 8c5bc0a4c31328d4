"""Every layer of a model in all its states as one tidy table: likeness of tokens, spectrum, attention to the first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from transformers import PreTrainedModel

from clusterlens.probing.capture import capture
from clusterlens.probing.disable import disable
from clusterlens.probing.load import Checkpoint, untrained
from clusterlens.probing.states import DISABLED, FRESH, POSSIBLE, TRAINED
from clusterlens.probing.statistics import AttentionToFirst, Spectrum, TokenSimilarity
from clusterlens.probing.text import Paragraph

KEY = ["text", "layer"]


@dataclass(frozen=True)
class State:
    """A model to run, and how its layers are captured."""

    name: str
    seed: int
    model: PreTrainedModel
    options: dict = field(default_factory=dict)


def states(checkpoint: Checkpoint, *, fresh_seeds: Sequence[int]) -> Iterator[State]:
    """One after the other, so that no more than one fresh copy is in memory.

    Where the query is divided in place, the states are those that `output_hidden_states` ends up with, divided by the
    next layer: what A's figures were drawn from.
    """
    yield State(TRAINED, 0, checkpoint.model)
    for seed in fresh_seeds:
        yield State(FRESH, seed, untrained(checkpoint, seed=seed).model)
    for name in POSSIBLE.get(checkpoint.model.config.model_type, ()):
        chosen = DISABLED[name]
        model = disable(checkpoint.model, chosen.what, norm=chosen.norm, scaling=chosen.scaling)
        yield State(name, 0, model, {"maps": False, "as_stored": chosen.in_place})


def probe(
    checkpoint: Checkpoint,
    texts: Mapping[str, Sequence[Paragraph]],
    *,
    fresh_seeds: Sequence[int],
    eigenvalues: int,
    batch_size: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measures and leading eigenvalues, a row per state, seed, source, text and layer. `texts` has them by source."""
    places = pd.DataFrame(
        [(source, number) for source, found in texts.items() for number in range(len(found))],
        columns=["source", "number"],
    )
    ids = [paragraph.ids for found in texts.values() for paragraph in found]
    measures, spectra = [], []
    for state in states(checkpoint, fresh_seeds=fresh_seeds):
        similarity, spectrum, first = TokenSimilarity(), Spectrum(kept=eigenvalues), AttentionToFirst()
        visitors = [similarity.add, spectrum.add, first.add]
        capture(state.model, ids, visitors, batch_size=batch_size, **state.options)
        found = similarity.table().merge(spectrum.table().drop(columns="tokens"), on=KEY)
        if first.rows:
            found = found.merge(over_heads(first.table()), on=KEY, how="left")
        measures.append(labelled(found, state, places))
        spectra.append(labelled(spectrum.eigenvalue_table(), state, places))
    return pd.concat(measures, ignore_index=True), pd.concat(spectra, ignore_index=True)


def over_heads(attention: pd.DataFrame) -> pd.DataFrame:
    """Attention to the first token: mean over heads, the strongest head, and what uniform attention gives."""
    groups = attention.groupby(KEY)
    return groups.agg(
        first_attention=("attention", "mean"), strongest_head=("attention", "max"), uniform=("uniform", "first")
    ).reset_index()


def labelled(table: pd.DataFrame, state: State, places: pd.DataFrame) -> pd.DataFrame:
    """With state, seed and source; texts are counted within their source."""
    named = table.join(places, on="text")
    named["text"] = named.pop("number")
    return named.assign(state=state.name, seed=state.seed)
