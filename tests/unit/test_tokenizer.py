"""Tokenizers and tokenised texts: RoBERTa's files as transformers reads them, cutting, and what is refused."""

import numpy as np
import pytest
from tokenizers import Tokenizer
from transformers import RobertaTokenizer

from clusterlens.config import check_config, load_schema
from clusterlens.data.prose import passages
from clusterlens.data.text import long_lines
from clusterlens.data.tokenizer import (
    MASK,
    SPECIAL,
    encode,
    properties,
    read_published,
    train_tokenizer,
    write_tokenizer,
)
from clusterlens.errors import UserError
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml

TEXTS = ["The film is never dull.", " naïve café, 12 % — <unk> words", "<mask> stands here"]


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return train_tokenizer(passages("valid")[:40], 400)


def test_a_text_survives_and_the_same_text_trains_the_same_tokenizer(trained, tmp_path):
    write_tokenizer(tmp_path / "tokenizer.json", trained)
    read = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in TEXTS[:1]:
        ids = read.encode(text).ids
        assert read.decode(ids) == text and (ids[0], ids[-1]) == (0, 2)
    assert trained.get_vocab_size() == 400
    assert train_tokenizer(passages("valid")[:40], 400).to_str() == trained.to_str()


def test_published_files_are_read_as_transformers_reads_them(trained, tmp_path):
    trained.model.save(str(tmp_path))
    ours = read_published(tmp_path / "vocab.json", tmp_path / "merges.txt")
    theirs = RobertaTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    for text in TEXTS:
        assert ours.encode(text).ids == theirs(text)["input_ids"], text
    assert int(properties(ours)["mask"]) == theirs.mask_token_id


def test_files_that_are_no_vocabulary_are_refused_in_one_line(tmp_path):
    (tmp_path / "vocab.json").write_text("{")
    (tmp_path / "merges.txt").write_text("")
    with pytest.raises(UserError, match="not a BPE vocabulary with merges"):
        read_published(tmp_path / "vocab.json", tmp_path / "merges.txt")
    (tmp_path / "vocab.json").write_text('{"a": 0, "<s>": 1}')
    with pytest.raises(UserError, match="no token <pad>"):
        read_published(tmp_path / "vocab.json", tmp_path / "merges.txt")


def test_long_texts_are_cut_and_the_log_says_so_once(trained, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr("clusterlens.logs.log.warning", lambda text, *values: said.append(text % values))
    whole = trained.encode(TEXTS[0]).ids
    found = encode(trained, [TEXTS[0], "word", TEXTS[0]], max_length=6, name="imdb train")
    assert found["tokens"][:6].tolist() == [*whole[:5], 2]
    lengths = np.diff(found["ends"], prepend=0)
    assert lengths.max() == 6 and len(lengths) == 3
    assert said == ["imdb train: 2 of 3 texts have more than 6 tokens and are cut"]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_is_refused_with_its_row(text, trained):
    with pytest.raises(UserError, match=r"^sst2 test, row 2: the text is empty; give it words or take the row out$"):
        encode(trained, ["fine", text], max_length=9, name="sst2 test")


def test_short_lines_are_left_out():
    assert long_lines([" abcde ", "abcd", "abcdef"], 5, "wikitext2 train") == ["abcde", "abcdef"]
    with pytest.raises(UserError, match=r"wikitext2 train: no line has 9 characters; lower language_model"):
        long_lines(["abcde"], 9, "wikitext2 train")


def test_special_tokens_are_never_masked_but_the_mask_may_be(trained):
    known = properties(trained)
    assert known["special"].tolist() == [trained.token_to_id(token) for token in ("<s>", "<pad>", "</s>")]
    assert int(known["vocabulary"]) == 400 and int(known["mask"]) == trained.token_to_id(MASK)
    assert len(SPECIAL) == 5


@pytest.mark.parametrize(("change", "words"), [({"window": 2048}, "window of 2048"), ({"windows": [4096]}, "of 4096")])
def test_a_window_that_does_not_fit_is_one_line(change, words):
    config = read_yaml(ROOT / "config" / "config.yaml")
    config["language_model"] |= change
    with pytest.raises(UserError, match=rf"^config section 'language_model': .*{words} does not fit 1024 tokens"):
        check_config(config, load_schema(), config)
