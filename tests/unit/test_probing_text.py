"""Paragraphs: long enough, seeded, and refused in one line where there are none."""

import json

import pytest

from clusterlens.errors import UserError
from clusterlens.probing.text import Characters, own_documents, paragraphs
from reference import tiny

LETTERS = Characters(178)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("words")
    tiny.save_tokenizer(folder)
    return AutoTokenizer.from_pretrained(folder)


def documents(count=20):
    return [" ".join(f"w{3 + (n + k) % 50}" for k in range(n + 1)) for n in range(count)]


def test_only_paragraphs_with_more_tokens_are_drawn(words):
    found = paragraphs(documents(), words, count=5, min_tokens=12)
    assert len(found) == 5 and all(len(one.ids) > 12 for one in found)
    assert all(one.ids[0] == 0 and one.ids[-1] == 2 for one in found)
    assert all(one.text in documents() for one in found)


def test_the_seed_decides(words):
    drawn = [paragraphs(documents(), words, count=4, min_tokens=5, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len({one.ids for one in drawn[0]}) == 4


def test_without_a_seed_the_order_stays(words):
    found = paragraphs(documents(), words, count=3, min_tokens=4, seed=None)
    assert [one.text for one in found] == documents()[2:5]


def test_paragraphs_are_cut(words):
    [one] = paragraphs(documents()[-1:], words, max_tokens=9)
    assert len(one.ids) == 9 and one.ids[-1] == 2


def test_short_lines_are_joined(words):
    lines = ["= Heading =", *["w5 w6 w7"] * 10]
    found = paragraphs(lines, words, count=3, min_tokens=10, joined=True, seed=None)
    assert [len(one.ids) for one in found] == [11, 11, 11]
    with pytest.raises(UserError, match="longest of 11 has 5"):
        paragraphs(lines, words, min_tokens=10)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "no text to probe"),
        ([" ", "\n"], {}, "every document is empty"),
        (["w5 w6"], {"min_tokens": 300}, "more than 300 tokens .the longest of 1 has 4.: give longer text"),
        (documents(), {"count": 9, "min_tokens": 15}, "9 paragraphs asked for, but 7 of 20"),
        (documents(), {"min_tokens": 512}, "raise max_tokens"),
    ],
)
def test_too_little_text_is_refused_in_one_line(words, texts, options, message):
    with pytest.raises(UserError, match=message) as caught:
        paragraphs(texts, words, **options)
    assert "\n" not in str(caught.value)


def test_own_files(tmp_path):
    (tmp_path / "my.txt").write_text("one line\n\nanother line\n", encoding="utf-8")
    assert own_documents(str(tmp_path / "my.txt")) == ["one line", "another line"]
    (tmp_path / "my.jsonl").write_text(json.dumps({"text": "a document"}) + "\n")
    assert own_documents(str(tmp_path / "my.jsonl")) == ["a document"]
    for name, content in (("empty.txt", b""), ("blank.txt", b"\n \n"), ("empty.jsonl", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match="holds no text"):
            own_documents(str(tmp_path / name))
    (tmp_path / "latin.txt").write_bytes(b"\xe9t\xe9")
    with pytest.raises(UserError, match="not UTF-8"):
        own_documents(str(tmp_path / "latin.txt"))
    with pytest.raises(UserError, match="cannot be read"):
        own_documents(str(tmp_path / "none.txt"))


def test_characters_are_symbols_within_the_vocabulary():
    ids = LETTERS("Hello, été 中文!")["input_ids"]
    assert len(ids) == 14 and all(1 <= symbol < 178 for symbol in ids)
    assert LETTERS("aXa")["input_ids"][0] == LETTERS("aXa")["input_ids"][2] != LETTERS("aXa")["input_ids"][1]
    assert LETTERS("abcdef", truncation=True, max_length=3)["input_ids"] == LETTERS("abc")["input_ids"]
    assert LETTERS.convert_ids_to_tokens(LETTERS("plain text")["input_ids"]) == list("plain text")
