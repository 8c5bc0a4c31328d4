"""The training of A's language models: pairing, masks, batches, resume in both phases, schedule and scores."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_model
from sklearn.metrics import f1_score

from clusterlens.data.tokens import Texts, load_texts
from clusterlens.errors import UserError
from clusterlens.models.arms import ARMS, PAIRS, LanguageRun, language_jobs, language_runs
from clusterlens.models.masked_loss import IGNORED
from clusterlens.training.finetuning_task import FinetuningTask, checked_labels, f1
from clusterlens.training.language_recipe import make_optimizer, make_schedule
from clusterlens.training.loop import train
from clusterlens.training.masking import masked
from clusterlens.training.pretraining_task import PretrainingTask
from clusterlens.training.texts import bucketed, by_length, padded
from reference.language import FINETUNING, MODEL, PRETRAINING, write_corpus

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return str(write_corpus(tmp_path_factory.mktemp("corpus") / "tokens.npz"))


@pytest.fixture(scope="module")
def weights(corpus, tmp_path_factory):
    """Of a pre-trained model."""
    file = tmp_path_factory.mktemp("weights") / "weights.safetensors"
    torch.manual_seed(0)
    save_model(pretraining(corpus).build(), str(file))
    return file


def pretraining(corpus: str, arm: str = "sdp", *, seed: int = 0, window: int = 16, **phase) -> PretrainingTask:
    return PretrainingTask(
        LanguageRun(arm, window, seed), corpus, model=MODEL, phase={**PRETRAINING, **phase}, device=CPU
    )


def finetuning(corpus: str, weights, arm: str = "sdp", *, seed: int = 0, window: int = 16, **phase) -> FinetuningTask:
    run, settings = LanguageRun(arm, window, seed), {**FINETUNING, **phase}
    return FinetuningTask(run, "sst2", corpus, weights=weights, model=MODEL, phase=settings, device=CPU)


class Spy(torch.nn.Module):
    """Remembers what it is given, and draws as dropout would."""

    def __init__(self, classes: int | None = None):
        super().__init__()
        self.seen, self.classes = [], classes

    def forward(self, *given):
        self.seen += [*given, torch.rand(3)]
        return torch.zeros(len(given[0]), self.classes) if self.classes else torch.zeros(())


def shown(task, epoch: int, classes: int | None = None) -> list[torch.Tensor]:
    """All that a model is given in one epoch, and the random numbers that its dropout would draw."""
    spy = Spy(classes)
    for chosen in task.batches(epoch):
        task.loss(spy, chosen)
    return spy.seen


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return len(one) == len(other) and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_arms_see_the_same_batches_masks_and_dropout(corpus, weights):
    for make in (pretraining, lambda *given, **more: finetuning(given[0], weights, *given[1:], **more)):
        classes = 2 if make is not pretraining else None
        first = shown(make(corpus, "sdp"), 2, classes)
        for arm in ARMS:
            torch.manual_seed(len(arm))
            assert same(shown(make(corpus, arm), 2, classes), first), arm
        assert not same(shown(make(corpus, "sdp"), 3, classes), first)
        assert not same(shown(make(corpus, "sdp", seed=1), 2, classes), first)


@pytest.mark.parametrize(("arm", "base"), PAIRS)
def test_pairs_start_from_the_same_weights(arm, base, corpus):
    states = []
    for one in (arm, base):
        torch.manual_seed(7)
        states.append(pretraining(corpus, one).build().state_dict())
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_exact_scaling_changes_nothing_and_the_other_arms_do(corpus, tmp_path):
    """Heads of 4 numbers: dividing by √4 rounds nothing, so that the paired difference is exactly 0."""
    lines = {}
    for arm in ARMS:
        train(pretraining(corpus, arm), metrics=tmp_path / f"{arm}.csv", checkpoint_root=tmp_path / arm)
        lines[arm] = untimed(tmp_path / f"{arm}.csv")
    assert lines["sq_exact"] == lines["sdp"]
    assert lines["sq_inplace"] != lines["sdp"] and lines["sq_shared"] != lines["sdp_shared"]


def untimed(path) -> list[str]:
    return [line.rsplit(",", 2)[0] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("phase", ["pretraining", "finetuning"])
@pytest.mark.parametrize("arm", ["sdp", "sq_shared"])
def test_an_interrupted_run_ends_with_the_same_bytes(phase, arm, corpus, tmp_path):
    def task():
        if phase == "pretraining":
            return pretraining(corpus, arm)
        file = tmp_path / "start.safetensors"
        if not file.is_file():
            torch.manual_seed(0)
            save_model(pretraining(corpus, arm).build(), str(file))
        return finetuning(corpus, file, arm)

    def run(name, **options):
        return train(task(), metrics=tmp_path / f"{name}.csv", checkpoint_root=tmp_path / name, **options)

    def stop(epoch):
        if epoch == 2:
            raise KeyboardInterrupt

    whole = run("whole").state_dict()
    with pytest.raises(KeyboardInterrupt):
        run("broken", after_epoch=stop)
    torch.manual_seed(99), np.random.seed(99)
    resumed = run("broken").state_dict()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert untimed(tmp_path / "broken.csv") == untimed(tmp_path / "whole.csv")
    assert len(untimed(tmp_path / "whole.csv")) == 4


def test_finetuning_starts_from_the_encoder_and_is_bound_to_it(corpus, weights, tmp_path):
    torch.manual_seed(0)
    encoder = pretraining(corpus).build().longformer.state_dict()
    model = finetuning(corpus, weights).build()
    assert all(torch.equal(encoder[name], value) for name, value in model.longformer.state_dict().items())
    torch.manual_seed(1)
    save_model(pretraining(corpus).build(), str(tmp_path / "other.safetensors"))
    other = finetuning(corpus, tmp_path / "other.safetensors")
    assert other.settings["weights"] != finetuning(corpus, weights).settings["weights"]


def test_validation_loss_is_the_cross_entropy_of_masked_tokens(corpus):
    task = pretraining(corpus)
    torch.manual_seed(0)
    model = task.build().eval()
    draw, losses = np.random.default_rng([0, 0]), []
    tokens, real = padded(task.test_texts, by_length(task.test_texts.lengths, 32)[0])
    seen, targets = masked(tokens, task.test_texts, ratio=0.15, draw=draw)
    with torch.no_grad():
        logits = model.logits(seen, real)
        losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        assert task.validate(model)["val_loss"] == pytest.approx(float(losses), rel=1e-5)
        assert task.validate(model) == task.validate(model)


# Masks and batches


def texts_of(rows: int, length: int) -> tuple[Texts, torch.Tensor]:
    """Texts of start, words, end and padding."""
    words = np.random.default_rng(1).integers(5, 100, (rows, length))
    words[:, 0], words[:, -2], words[:, -1] = 0, 2, 1
    texts = Texts(words.ravel().astype(np.int32), np.cumsum([length] * rows), None, 100, 1, 4, np.array([0, 1, 2]))
    return texts, torch.from_numpy(words)


def test_masking_has_berts_shares():
    texts, tokens = texts_of(400, 203)
    seen, targets = masked(tokens, texts, ratio=0.15, draw=np.random.default_rng(0))
    chosen = targets != IGNORED
    words = ~torch.isin(tokens, torch.tensor([0, 1, 2]))
    assert not chosen[~words].any() and torch.equal(targets[chosen], tokens[chosen])
    assert torch.equal(seen[~chosen], tokens[~chosen])
    count = int(chosen.sum())
    assert count / int(words.sum()) == pytest.approx(0.15, abs=0.005)
    hidden, kept = int((seen[chosen] == 4).sum()), int((seen[chosen] == tokens[chosen]).sum())
    assert hidden / count == pytest.approx(0.8 + 0.1 / 100, abs=0.015)
    assert kept / count == pytest.approx(0.1 + 0.1 / 100, abs=0.012)
    replaced = seen[chosen & (seen != 4) & (seen != tokens)]
    assert replaced.min() < 5 and replaced.max() == 99


def test_something_is_always_predicted():
    texts, tokens = texts_of(1, 4)
    for seed in range(20):
        _, targets = masked(tokens, texts, ratio=1e-9, draw=np.random.default_rng(seed))
        assert int((targets != IGNORED).sum()) == 1


@pytest.mark.parametrize("count", [1, 8, 1000, 1003])
def test_every_text_comes_once_per_epoch(count):
    lengths = np.random.default_rng(0).integers(2, 60, count)
    for batches in (bucketed(lengths, 8, np.random.default_rng(1)), by_length(lengths, 8)):
        assert sorted(torch.cat(batches).tolist()) == list(range(count))
        assert max(map(len, batches)) <= 8 and len(batches) == -(-count // 8)


def test_buckets_save_padding_and_keep_the_order_random():
    lengths = np.random.default_rng(0).geometric(0.04, 2000)

    def waste(batches) -> float:
        return sum(len(one) * lengths[one].max() for one in batches) / lengths.sum() - 1

    one, other = (bucketed(lengths, 8, np.random.default_rng(seed)) for seed in (1, 2))
    assert waste(one) < 0.1 < 1 < waste(np.random.default_rng(1).permutation(2000).reshape(-1, 8))
    assert [batch.tolist() for batch in one] != [batch.tolist() for batch in other]
    middle = [float(lengths[batch].mean()) for batch in one]
    assert abs(np.corrcoef(middle, range(len(middle)))[0, 1]) < 0.2


def test_padding_is_at_the_end_and_marked(corpus):
    texts = load_texts(corpus, "train", labelled=False)
    tokens, real = padded(texts, torch.tensor([3, 0]))
    for row, position in enumerate((3, 0)):
        length = texts.lengths[position]
        assert tokens[row, :length].tolist() == texts[position].tolist()
        assert real[row].tolist() == [True] * length + [False] * (tokens.shape[1] - length)
    assert (tokens[~real] == texts.pad).all()


# Recipe, scores and jobs


@pytest.mark.parametrize("step", [0, 1, 4, 5, 10, 19])
def test_the_rate_rises_and_falls_linearly(step):
    phase = {"learning_rate": 0.1, "weight_decay": 0.0, "warmup_steps": 5}
    optimizer = make_optimizer(torch.nn.Linear(2, 2), phase)
    schedule = make_schedule(optimizer, phase, steps=20)
    schedule.step_update(step)
    expected = 0.1 * step / 5 if step < 5 else 0.1 * (20 - step) / 15
    assert optimizer.param_groups[0]["lr"] == pytest.approx(expected)


def test_f1_is_scikit_learns():
    rng = np.random.default_rng(0)
    found, truth = rng.random(50) < 0.4, rng.random(50) < 0.6
    assert f1(torch.tensor(found), torch.tensor(truth)) == pytest.approx(f1_score(truth, found))
    assert f1(torch.zeros(3, dtype=torch.bool), torch.tensor([True, False, True])) == 0.0


def test_scores_are_in_per_cent_of_the_test_texts(corpus, weights):
    task = finetuning(corpus, weights)
    always = Spy(classes=2)
    always.forward = lambda tokens, mask: torch.tensor([[0.0, 1.0]]).repeat(len(tokens), 1)
    found = task.validate(always)
    assert found["accuracy"] == 50.0 and found["f1"] == pytest.approx(100 * 2 / 3)
    assert found["val_loss"] == pytest.approx((np.log(1 + np.e) + np.log(1 + 1 / np.e)) / 2)


def test_labels_other_than_0_and_1_are_refused():
    with pytest.raises(UserError, match=r"^sst2: label 2 is neither 0 \(negative\) nor 1 \(positive\)"):
        checked_labels(replace(texts_of(3, 4)[0], labels=np.array([0, 1, 2])), "sst2")


def test_limits_keep_the_labels_balanced(corpus, weights):
    task = finetuning(corpus, weights, train_texts=6, test_texts=4)
    assert len(task.train_texts) == 6 and int(task.labels["train"].sum()) == 3
    whole = load_texts(corpus, "train", labelled=True)
    rows = [whole[position].tolist() for position in range(len(whole))]
    assert all(task.train_texts[position].tolist() in rows for position in range(6))
    assert len(pretraining(corpus, train_lines=5).train_texts) == 5


def test_jobs_hold_every_run_once():
    settings = {"window": 128, "windows": [128, 512], "seeds": [0, 3]}
    runs = {run.name for run in language_runs(settings)}
    assert len(runs) == 2 * (len(ARMS) + 2)
    for jobs, count in (("run", len(runs)), ("seed", 2)):
        found = language_jobs({**settings, "jobs": jobs})
        named = [LanguageRun(**run).name for one in found.values() for run in one]
        assert len(found) == count and set(named) == runs and len(named) == len(runs)
        narrow = language_jobs({**settings, "jobs": jobs}, window=128)
        assert narrow.keys() <= found.keys()
        assert all(run["window"] == 128 for one in narrow.values() for run in one)


def test_settings_can_be_chosen_on_texts_that_neither_train_nor_test(corpus, weights):
    everything = {text.tobytes() for text in all_texts(load_texts(corpus, "train", labelled=False))}
    tasks = [
        pretraining(corpus, train_lines=14, validation_lines=None, evaluate_on="held_out"),
        finetuning(corpus, weights, train_texts=14, test_texts=None, evaluate_on="held_out"),
    ]
    for task in tasks:
        trains, evaluates = ([*all_texts(texts)] for texts in (task.train_texts, task.test_texts))
        assert (len(trains), len(evaluates)) == (14, 8)
        assert {text.tobytes() for text in (*trains, *evaluates)} == everything
    assert tasks[1].labels["test"].bincount().tolist() == [4, 4]


def all_texts(texts: Texts) -> list[np.ndarray]:
    return [texts[position] for position in range(len(texts))]


def test_where_all_texts_train_none_is_held_out(corpus):
    with pytest.raises(UserError, match="all 22 texts are used to train, none is held out: lower train_lines or"):
        pretraining(corpus, evaluate_on="held_out")
