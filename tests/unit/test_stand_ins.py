"""The tiny checkpoints are trained, saved and read as the published ones are."""

import numpy as np
import pytest
import torch

from clusterlens.data.prose import passages
from clusterlens.models.masked_loss import IGNORED
from clusterlens.models.stand_ins import KINDS, SPANS, build, kind_of, learn_tokenizer
from clusterlens.probing.load import load
from clusterlens.training.loop import train
from clusterlens.training.stand_in_task import SPAN, StandInTask, spans

pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS = {
    "vocabulary": 300,
    "hidden_dimension": 16,
    "layers": 2,
    "attention_heads": 4,
    "window": 8,
    "texts": 500,
    "tokens": 64,
}
SETTINGS |= {"epochs": 2, "batch_size": 16, "learning_rate": 1e-2, "seed": 0}
TEXTS = passages("train")[:20]


@pytest.fixture(scope="module", params=KINDS)
def task(request) -> StandInTask:
    tokenizer = learn_tokenizer(request.param, TEXTS, vocabulary=SETTINGS["vocabulary"])
    return StandInTask(request.param, tokenizer, TEXTS, TEXTS[:5], settings=SETTINGS)


def test_a_trained_stand_in_is_read_like_any_other_checkpoint(task, tmp_path):
    model = train(task, metrics=tmp_path / "metrics.csv", checkpoint_root=tmp_path / "checkpoints")
    model.save_pretrained(tmp_path / "model")
    task.tokenizer.save_pretrained(tmp_path / "model")
    found = load(str(tmp_path / "model"))
    assert found.facts["model_type"] == task.kind and found.facts["heads"] == 4 and found.facts["layers"] == 2
    ids = found.tokenizer(TEXTS[0], truncation=True, max_length=64)["input_ids"]
    assert ids == task.tokenizer(TEXTS[0], truncation=True, max_length=64)["input_ids"] and len(ids) == 64
    x, mask = torch.tensor([ids]), torch.ones(1, 64, dtype=torch.long)
    trained = model.encoder if task.kind == "t5" else model.base_model
    with torch.no_grad():
        ours = found.model(input_ids=x, attention_mask=mask).last_hidden_state
        theirs = trained.eval()(input_ids=x, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_training_lowers_the_loss_below_that_of_word_frequencies(task, tmp_path):
    torch.manual_seed(0)
    fresh, knows_frequencies = build(task.kind, task.tokenizer, SETTINGS).eval(), task.build().eval()
    model = train(task, metrics=tmp_path / "metrics.csv", checkpoint_root=tmp_path / "checkpoints").eval()
    with torch.no_grad():
        trained = task.validate(model)["val_loss"]
        assert trained < task.validate(fresh)["val_loss"] - 0.3
        assert trained < task.validate(knows_frequencies)["val_loss"] - 0.05


@pytest.mark.parametrize("task", [kind for kind in KINDS if kind != "t5"], indirect=True)  # T5 guesses spans
def test_only_words_are_guessed_and_most_of_them_are_masked(task):
    x = task.train_x.repeat(20, 1)
    found = task.guessed(x, np.random.default_rng(0))
    asked = found["labels"] != IGNORED
    assert torch.equal(found["labels"][asked], x[asked]) and torch.equal(found["input_ids"][~asked], x[~asked])
    assert not asked[:, [0, -1]].any() and asked.float().mean() == pytest.approx(0.15, abs=0.01)
    shown = found["input_ids"][asked]
    assert (shown == task.tokenizer.mask_token_id).float().mean() == pytest.approx(0.8, abs=0.03)
    assert (shown == x[asked]).float().mean() == pytest.approx(0.1, abs=0.02)


def test_filling_the_spans_in_gives_the_text_back():
    x = torch.arange(100, 164).repeat(3, 1)
    found = spans(x, np.random.default_rng(1), first_sentinel=3)
    for inputs, labels in zip(found["input_ids"].tolist(), found["labels"].tolist(), strict=True):
        asked = {labels[i]: labels[i + 1 : i + 1 + SPAN] for i in range(0, len(labels), SPAN + 1)}
        filled = [word for token in inputs for word in asked.get(token, [token])]
        assert filled == list(range(100, 164)) and len(asked) == SPANS


def test_a_checkpoint_is_named_after_its_class():
    names = ("albert-xlarge-v2", "t5-large", "longformer-base-4096", "roberta-base")
    assert [kind_of(name) for name in names] == ["albert", "t5", "longformer", "roberta"]
