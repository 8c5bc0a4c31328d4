"""Text formats: documents, lines and labelled sentences, as published and as users have them."""

import json

import pytest

from clusterlens.data.text import (
    long_enough,
    read_documents,
    read_labelled,
    read_lines,
    write_documents,
    write_labelled,
    write_lines,
)
from clusterlens.errors import UserError


def refused(call, path):
    with pytest.raises(UserError) as caught:
        list(call(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("column", ["sentence", "content", "text"])
def test_column_names_of_sst2_in_either_order(tmp_path, column):
    (tmp_path / "a.tsv").write_text(f"{column}\tlabel\nit's \"fine\t1\nbad\t0\n")
    (tmp_path / "b.tsv").write_text(f"label\t{column}\n1\tit's \"fine\n0\tbad\n")
    expected = [("it's \"fine", 1), ("bad", 0)]
    assert read_labelled(tmp_path / "a.tsv") == expected
    assert read_labelled(tmp_path / "b.tsv") == expected


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
def test_labelled_text_survives_writing(tmp_path, name):
    pairs = [("one  two", 1), ("three", 0)]
    write_labelled(tmp_path / name, pairs)
    assert [(text.split(), label) for text, label in read_labelled(tmp_path / name)] == [
        (text.split(), label) for text, label in pairs
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("words\tlabel\na\t1\n", "no column sentence or content or text"),
        ("sentence\tlabels\na\t1\n", "did you mean 'labels'?"),
        ("sentence\tlabel\na\t2\n", "neither 0 (negative) nor 1 (positive)"),
        ("sentence\tlabel\na\t1\nb\t1\n", "every label is 1"),
        ("sentence\tlabel\na\n", "line 2: 1 fields, but the header has 2"),
        ("sentence\tlabel\n", "no rows"),
        ("", "holds no text"),
    ],
)
def test_unusable_labelled_text(tmp_path, content, says):
    (tmp_path / "a.tsv").write_text(content)
    assert says in refused(read_labelled, tmp_path / "a.tsv")


def test_broken_json_line_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": \n')
    assert "line 2: not a JSON object" in refused(read_documents, tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"text": 3}\n')
    assert "not text" in refused(read_documents, tmp_path / "a.jsonl")


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "a.txt").write_bytes("caf\xe9".encode("latin-1"))
    assert "not UTF-8 text (byte 3)" in refused(read_lines, tmp_path / "a.txt")


def test_only_line_feeds_end_a_line(tmp_path):
    write_lines(tmp_path / "a.txt", ["", " = A = ", "one\u2028line", ""])
    assert read_lines(tmp_path / "a.txt") == ["", " = A = ", "one\u2028line", ""]


def test_documents_as_lines_or_json(tmp_path):
    (tmp_path / "a.txt").write_text("first\n\nsecond\n")
    write_documents(tmp_path / "a.jsonl", ["first", "two\nlines"])
    assert list(read_documents(tmp_path / "a.txt")) == ["first", "second"]
    assert list(read_documents(tmp_path / "a.jsonl")) == ["first", "two\nlines"]
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[1]) == {"text": "two\nlines"}


def test_long_enough_counts_words_between_white_space():
    texts = ["a b", "a\nb\tc", "a  b   c", ""]
    assert list(long_enough(texts, 3)) == ["a\nb\tc", "a  b   c"]
