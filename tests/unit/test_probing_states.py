"""Every layer in every state: the tidy tables against direct computation, numbers, hidden states as tokens."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from clusterlens.attention.tokens import of_hidden
from clusterlens.errors import UserError
from clusterlens.figures import layers as figures
from clusterlens.particles.runs import Run
from clusterlens.probing import numbers
from clusterlens.probing.by_state import probe
from clusterlens.probing.hidden import hidden_states
from clusterlens.probing.load import load, untrained
from clusterlens.probing.states import DISABLED, FRESH, POSSIBLE, TRAINED
from clusterlens.probing.text import Paragraph
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")

LENGTHS = {numbers.PAPER: [9], numbers.PARAGRAPHS: [12, 15, 11]}
WORDS = " ".join(f"w{3 + n % 50}" for n in range(40))


def texts() -> dict[str, list[Paragraph]]:
    return {
        source: [Paragraph("", tuple(ids)) for ids in tiny.texts_of(lengths, seed=len(lengths))]
        for source, lengths in LENGTHS.items()
    }


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """Checkpoint, measures and eigenvalues of every class."""
    found = {}
    for kind in ("albert", "t5", "longformer", "roberta"):
        folder = tmp_path_factory.mktemp(kind)
        tiny.save(kind, folder)
        checkpoint = load(str(folder))
        found[kind] = (checkpoint, *probe(checkpoint, texts(), fresh_seeds=[4, 7], eigenvalues=3, batch_size=2))
    return found


@pytest.fixture(scope="module")
def measures(probed):
    return {kind: found[1] for kind, found in probed.items()}


@pytest.fixture(scope="module")
def spectra(probed):
    return {kind: found[2] for kind, found in probed.items()}


def row(table, **wanted) -> pd.Series:
    chosen = table.loc[np.logical_and.reduce([table[key] == value for key, value in wanted.items()])]
    assert len(chosen) == 1
    return chosen.iloc[0]


@pytest.mark.parametrize("kind", ("albert", "t5", "longformer", "roberta"))
def test_a_row_for_each_state_text_and_layer(kind, measures):
    states = {TRAINED: 1, FRESH: 2} | dict.fromkeys(POSSIBLE.get(kind, ()), 1)
    counts = measures[kind].groupby("state").size().to_dict()
    assert counts == {state: 4 * 4 * times for state, times in states.items()}  # 4 texts, embeddings and 3 layers


@pytest.mark.parametrize("kind", ("t5", "roberta"))
@pytest.mark.parametrize("state", (TRAINED, FRESH))
def test_measures_are_those_of_the_hidden_states_and_maps(kind, state, probed):
    checkpoint, table, eigenvalues = probed[kind]
    model = checkpoint.model if state == TRAINED else untrained(checkpoint, seed=7).model
    hidden, maps = probing.everything(model, list(texts()[numbers.PARAGRAPHS][1].ids))
    wanted = {"state": state, "seed": 0 if state == TRAINED else 7, "source": numbers.PARAGRAPHS, "text": 1, "layer": 2}
    found, x = row(table, **wanted), np.asarray(hidden[2], dtype=float)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert found["tokens"] == 15
    assert found["mean_cosine"] == pytest.approx((unit @ unit.T)[np.triu_indices(15, 1)].mean(), abs=1e-5)
    covariance = np.linalg.eigvalsh(np.cov(x.T))[::-1]
    assert found["leading_share_centred"] == pytest.approx(covariance[0] / covariance.sum(), rel=1e-4)
    assert row(eigenvalues, **wanted, covariance="centred", rank=3)["eigenvalue"] == pytest.approx(
        covariance[2], rel=1e-4
    )
    by_head = np.asarray(maps[1])[:, 1:, 0].mean(1)
    assert found["first_attention"] == pytest.approx(by_head.mean(), rel=1e-4)
    assert found["strongest_head"] == pytest.approx(by_head.max(), rel=1e-4)
    assert found["uniform"] == pytest.approx(1 / 15)


def test_in_place_states_are_as_stored(probed):
    """The embeddings are the same in all states but for the division by √8, the head's width."""
    _, _, eigenvalues = probed["longformer"]
    wanted = {"source": numbers.PAPER, "text": 0, "layer": 0, "covariance": "uncentred", "rank": 1}
    whole = row(eigenvalues, state=TRAINED, **wanted)["eigenvalue"]
    for name, state in DISABLED.items():
        factor = 1 / 8 if state.in_place else 1
        assert row(eigenvalues, state=name, **wanted)["eigenvalue"] == pytest.approx(factor * whole, rel=1e-4)


@pytest.mark.parametrize("item", numbers.SPECTRA)
def test_spectra_are_drawn_and_numbered_over_paragraphs(item, measures, spectra):
    figure, points = figures.spectra_by_layer(item, measures, spectra)
    panels = numbers.SPECTRA[item]
    assert len(figure.axes) == 3 * len(panels)
    assert len(points) == len(panels) * 2 * 2 * 3 * 4  # sources, covariances, ranks, layers
    found = pd.DataFrame(numbers.spectrum_numbers(item, measures, spectra)).set_index(["row", "column"])
    model, state = panels[0]
    chosen = measures[model]["state"] == state
    table = measures[model][chosen].query("source == 'paragraphs' and layer == 3")
    shown = found.loc[(f"{model} layer 3", "leading share")]
    assert shown["value"] == pytest.approx(table["leading_share_centred"].mean()) and shown["seeds"] == 3
    assert shown["low"] < shown["value"] < shown["high"]
    assert found.loc[(f"{model} paper text layer 3", "leading share")]["seeds"] == 1
    gap = found.loc[(f"{model} paper text layer 3", "lambda1/lambda2")]["value"]
    lines = spectra[model][spectra[model]["state"] == state]
    lines = lines.query("source == 'paper' and layer == 3 and covariance == 'centred'")
    first, second = lines.sort_values("rank")["eigenvalue"].iloc[:2]
    assert gap == pytest.approx(first / second)


def test_other_states_have_rows_of_their_own():
    assert numbers.row_name("fig12", "longformer", "qkv_in_place") == "longformer"
    assert numbers.row_name("fig12", "longformer", "plain_clean") == "longformer plain clean"
    assert numbers.row_name("fig14", "roberta", "off_clean") == "roberta"


def test_eigenvalues_are_averaged_on_the_axis_they_are_drawn_on():
    spectra = pd.DataFrame({"covariance": "centred", "rank": 1, "layer": 0, "eigenvalue": [1.0, 100.0]})
    assert numbers.eigenvalue_curves(spectra)["eigenvalue"].tolist() == pytest.approx([10])


def test_depth_varies_over_texts_when_trained_and_over_seeds_when_fresh(measures):
    figure, points = figures.depth(measures)
    assert len(figure.axes) == 12 and set(points["state"]) == {TRAINED, FRESH}
    found = pd.DataFrame(numbers.depth_numbers(measures)).set_index(["row", "column"])
    assert found.loc[("t5 trained layer 2", "mean cosine"), "seeds"] == 3
    fresh = found.loc[("t5 fresh layer 2", "mean cosine")]
    table = measures["t5"].query("state == 'fresh' and source == 'paragraphs' and layer == 2")
    assert fresh["by_seed"].split()[1].startswith("7:") and fresh["seeds"] == 2
    assert fresh["value"] == pytest.approx(table["mean_cosine"].mean())
    clusters = found.loc[("t5 trained layer 2", "clusters per token"), "value"]
    trained = measures["t5"].query("state == 'trained' and source == 'paragraphs' and layer == 2")
    assert clusters == pytest.approx((trained["clusters"] / trained["tokens"]).mean())


def simulation(attention: np.ndarray, n: int) -> Run:
    times = np.arange(len(attention), dtype=float)
    empty = np.zeros((1, 1, 2, 2))
    settings = {"snapshots": [0.0, times[-1]]}
    return Run("", settings, times, np.zeros((len(times), n, 2)), None, empty, None, {"attention_to_first": attention})


def test_sinks_are_measured_against_uniform_attention(measures):
    n = 8
    uniform = np.mean([1 / seen for seen in range(2, n + 1)])
    run = simulation(np.array([[uniform, uniform], [2 * uniform, 4 * uniform]]), n)
    figure, points = figures.sinks(measures, {"fig4": run})
    assert len(figure.axes) == 3
    line = points[points["series"] == "simulation fig4"]
    assert line["value"].tolist() == pytest.approx([1, 3]) and line["depth"].tolist() == [0, 1]
    found = pd.DataFrame(numbers.sink_numbers(measures, {"fig4": run})).set_index(["row", "column"])["value"]
    assert found["simulation fig4 t=1", "over uniform"] == pytest.approx(3)
    table = measures["roberta"].query("state == 'trained' and source == 'paragraphs' and layer == 1")
    assert found["roberta trained layer 1", "over uniform"] == pytest.approx(
        (table["first_attention"] * table["tokens"]).mean()
    )
    assert ("roberta trained layer 0", "over uniform") not in found.index


# Hidden states of a checkpoint as tokens of a diagnosis


@pytest.fixture
def checkpoint(tmp_path):
    tiny.save("roberta", tmp_path / "model")
    (tmp_path / "my.txt").write_text(f"{WORDS[:60]}\n{WORDS[60:]}\n")
    return tmp_path


def states(folder, **changes):
    options = {"layer": None, "tokenizer": None, "limit": 500} | changes
    return hidden_states(str(folder / "model"), str(folder / "my.txt"), **options)


@pytest.mark.parametrize("layer", (0, 2, None))
def test_the_hidden_states_of_a_layer_are_tokens(layer, checkpoint):
    x, about = states(checkpoint, layer=layer)
    model = load(str(checkpoint / "model"))
    text = (checkpoint / "my.txt").read_text().strip()
    hidden, _ = probing.everything(model.model, model.tokenizer(text)["input_ids"])
    np.testing.assert_allclose(x, hidden[3 if layer is None else layer], atol=1e-5)
    tokens = of_hidden(x, about, limit=20)
    assert tokens.x.shape == (20, 24) and tokens.ordered and "roberta" in tokens.about


def test_a_text_is_cut_to_the_limit_and_to_the_models_positions(checkpoint):
    assert len(states(checkpoint, limit=15)[0]) == 15
    (checkpoint / "my.txt").write_text(f"{WORDS} {WORDS}")
    assert len(states(checkpoint)[0]) == 64


def decoder(folder):
    from transformers import GPT2Config, GPT2Model

    GPT2Model(GPT2Config(n_embd=8, n_layer=1, n_head=2, vocab_size=60)).save_pretrained(folder / "model")


def without_tokenizer(folder):
    for file in (folder / "model").glob("tokenizer*"):
        file.unlink()


def pickled(folder):
    (folder / "model" / "model.safetensors").unlink()
    with (folder / "model" / "pytorch_model.bin").open("wb") as stream:
        pickle.dump({"weight": print}, stream)


def half_downloaded(folder):
    file = folder / "model" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def not_finite(folder):
    file = folder / "model" / "model.safetensors"
    tensors = load_file(file)
    tensors["embeddings.word_embeddings.weight"][3, 3] = torch.nan
    save_file(tensors, file, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (decoder, "decoder-only"),
        (without_tokenizer, "no tokenizer"),
        (pickled, "could run code|damaged"),
        (half_downloaded, "damaged or cut short"),
        (not_finite, "not finite"),
        (lambda folder: (folder / "my.txt").write_text(" \n"), "holds no text"),
        (lambda folder: (folder / "my.txt").unlink(), "cannot be read"),
    ],
)
def test_what_cannot_be_diagnosed_is_refused_in_one_line(spoil, message, checkpoint):
    spoil(checkpoint)
    with pytest.raises(UserError, match=message) as refusal:
        states(checkpoint)
    assert "\n" not in str(refusal.value)


def test_layers_that_are_not_there_and_short_texts_are_refused(checkpoint):
    with pytest.raises(UserError, match=r"layer 4: .* has 0 \(the embeddings\) to 3"):
        states(checkpoint, layer=4)
    (checkpoint / "my.txt").write_text("w5 w6 w7")
    with pytest.raises(UserError, match="gives 5 tokens, but clusters need at least 10"):
        of_hidden(*states(checkpoint), limit=500)
