"""Stand-ins: the same every time, in the raw layout, and hard enough to be got wrong."""

import numpy as np
import pytest
from PIL import Image

from clusterlens.attention.cases import Case
from clusterlens.attention.study import settle_all
from clusterlens.attention.tokens import of_pixels
from clusterlens.data import embedded, grammar, prose
from clusterlens.data.formats import read_images
from clusterlens.data.pictures import prepare
from clusterlens.data.registry import load
from clusterlens.data.tables import read_table
from clusterlens.data.text import read_documents, read_labelled, read_lines
from clusterlens.errors import UserError
from clusterlens.files import sha256
from clusterlens.provenance import ROOT

SETTINGS = {"seed": 0, "size": 64}
REGISTRY = load(ROOT / "config" / "datasets.yaml")


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    for name in embedded.WRITERS:
        (folder / name).mkdir()
        assert " for " in embedded.write(name, REGISTRY[name], SETTINGS, folder / name)["label"]
    return folder


def test_same_every_time(raw, tmp_path):
    for name in ("cifar10", "imdb", "sst2", "heart", "picture", "wikitext2"):
        (tmp_path / name).mkdir()
        embedded.write(name, REGISTRY[name], SETTINGS, tmp_path / name)
        for file in (tmp_path / name).iterdir():
            if file.suffix == ".npz":
                ours, theirs = read_images(file), read_images(raw / name / file.name)
                assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
            else:
                assert sha256(file) == sha256(raw / name / file.name)


def test_another_seed_gives_other_sentences():
    first, second = (grammar.sentences(50, seed=seed, held_out=False) for seed in (0, 1))
    assert first != second


def test_digits(raw):
    arrays = read_images(raw / "cifar10" / "images.npz")
    assert len(arrays["train_x"]) + len(arrays["test_x"]) == 1797
    assert arrays["train_x"].shape[1:] == (32, 32, 3)
    assert set(arrays["test_y"]) == set(range(10))
    assert np.array_equal(arrays["train_x"][..., 0], arrays["train_x"][..., 2])


def test_prose_splits_share_no_passage(raw):
    splits = {name: read_lines(raw / "wikitext2" / f"{name}.txt") for name in ("train", "valid", "test")}
    assert all(len(lines) >= 30 for lines in splits.values())
    assert min(len(line) for lines in splits.values() for line in lines) >= prose.MIN_CHARACTERS
    assert not set(splits["train"]) & (set(splits["valid"]) | set(splits["test"]))
    documents = list(read_documents(raw / "c4" / "c4.jsonl"))
    assert len(documents) == sum(map(len, splits.values()))
    assert sum(len(text.split()) for text in documents) > 40_000


@pytest.mark.parametrize(
    ("name", "train", "test"), [("imdb", "train.jsonl", "test.jsonl"), ("sst2", "train.tsv", "dev.tsv")]
)
def test_held_out_words_are_in_the_test_split_only(raw, name, train, test):
    train, test = read_labelled(raw / name / train), read_labelled(raw / name / test)
    assert not grammar.HELD_OUT & {word for text, _ in train for word in text.split()}
    assert {word for text, _ in test for word in text.split()} >= grammar.HELD_OUT
    for pairs in (train, test):
        assert sum(label for _, label in pairs) * 2 == len(pairs)


def test_sentences_can_be_learnt_but_not_perfectly_from_words(raw):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    train, test = read_labelled(raw / "sst2" / "train.tsv"), read_labelled(raw / "sst2" / "dev.tsv")
    words = CountVectorizer()
    model = LogisticRegression(max_iter=200).fit(words.fit_transform([t for t, _ in train]), [y for _, y in train])
    accuracy = model.score(words.transform([t for t, _ in test]), [y for _, y in test])
    assert 0.55 < accuracy < 0.95


def test_tables_have_the_signs_of_the_real_ones(raw):
    cancer = read_table(raw / "diabetes" / "diabetes_prediction_dataset.csv")
    correlation = cancer.corr()["malignant"]
    assert (correlation > 0.3).all()
    wine = read_table(raw / "heart" / "heart.csv")
    correlation = wine.corr()["first_cultivar"]
    assert correlation["alcalinity_of_ash"] < -0.3 and correlation["proline"] > 0.3 and correlation["alcohol"] > 0.3
    assert sorted(wine["first_cultivar"].unique()) == [0, 1]


@pytest.mark.parametrize("size", [32, 64])
def test_mask_is_exact(tmp_path, size):
    embedded.write("picture", REGISTRY["picture"], {"size": size}, tmp_path)
    image, mask = prepare(tmp_path / "picture.png", tmp_path / "mask.png", size)
    assert image.shape == (size, size, 3) and mask.dtype == bool
    assert 0.15 < mask.mean() < 0.5
    light = np.linspace(*embedded.LIGHT, size)[:, None, None]
    ground = np.abs(image - light * embedded.GROUND).max(axis=-1) < 5 * embedded.GRAIN
    assert ground[~mask].all() and ground[mask].mean() < 0.2


def test_attention_patterns_differ_on_the_picture(tmp_path):
    embedded.write("picture", REGISTRY["picture"], {"size": 32}, tmp_path)
    tokens = of_pixels(*prepare(tmp_path / "picture.png", tmp_path / "mask.png", 32))
    settings = {"clusters": 2, "iterations": 20, "axis": "feature", "radius": 0.1, "seed": 0}
    found = settle_all(tokens, [Case("global"), Case("local", 64)], global_tokens=[], **settings)
    all_of_it, windows = (one.measures["dice"] for one in found.values())
    assert min(all_of_it, windows) > 0.6 and max(all_of_it, windows) < 0.97 and abs(all_of_it - windows) > 0.05


def test_no_stand_in(tmp_path):
    with pytest.raises(UserError, match="t5-large: no stand-in is embedded"):
        embedded.write("t5-large", {}, SETTINGS, tmp_path)


def test_own_picture_is_cut_and_scaled(tmp_path):
    colours = np.zeros((60, 100, 3), np.uint8)
    colours[:, 50:] = 200
    Image.fromarray(colours).save(tmp_path / "p.png")
    Image.fromarray(colours[..., 0]).save(tmp_path / "m.png")
    image, mask = prepare(tmp_path / "p.png", tmp_path / "m.png", 10)
    assert mask.tolist() == [[False] * 5 + [True] * 5] * 10
    assert (image[:, :5] == 0).all() and (image[:, 5:] == 200).all()


def test_unusable_pictures(tmp_path):
    Image.fromarray(np.zeros((20, 20), np.uint8)).save(tmp_path / "black.png")
    Image.fromarray(np.zeros((10, 20), np.uint8)).save(tmp_path / "other.png")
    with pytest.raises(UserError, match="the mask is all black"):
        prepare(tmp_path / "black.png", tmp_path / "black.png", 10)
    with pytest.raises(UserError, match="the two must agree"):
        prepare(tmp_path / "black.png", tmp_path / "other.png", 10)
