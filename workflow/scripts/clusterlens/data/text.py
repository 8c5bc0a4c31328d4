"""Text: documents, lines and labelled sentences, read from what publishers and users have and written as raw files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from clusterlens.data.formats import read_jsonl, write_jsonl
from clusterlens.errors import UserError, nearest
from clusterlens.files import write_text

TEXT_COLUMNS = ("sentence", "content", "text")


def long_enough(texts: Iterable[str], min_words: int) -> Iterator[str]:
    """Those texts that have at least `min_words` words between white space."""
    return (text for text in texts if len(text.split()) >= min_words)


def long_lines(lines: Iterable[str], min_characters: int, name: str) -> list[str]:
    """Those lines that have at least `min_characters` characters, without the white space around them."""
    kept = [line for line in map(str.strip, lines) if len(line) >= min_characters]
    if not kept:
        raise UserError(
            f"{name}: no line has {min_characters} characters; lower language_model/pretraining/min_characters"
        )
    return kept


def read_documents(path: Path) -> Iterator[str]:
    """One document per line of a .txt file, or the field `text` of each row of a .jsonl file."""
    if path.suffix != ".jsonl":
        yield from (line for line in read_lines(path) if line.strip())
        return
    for number, row in enumerate(read_jsonl(path), 1):
        yield text_of(row, ("text",), path, number)


def write_documents(path: Path, texts: Iterable[str]) -> None:
    write_jsonl(path, ({"text": text} for text in texts))


def read_lines(path: Path) -> list[str]:
    """Lines without their end; only line feeds end a line, as in the published files."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if not text.strip():
        raise UserError(f"{path}: the file holds no text")
    return text.removesuffix("\n").split("\n")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_labelled(path: Path) -> list[tuple[str, int]]:
    """(text, label) pairs of a .jsonl file, or of a .tsv file with a header; labels are 0 and 1, and both occur."""
    rows = read_jsonl(path) if path.suffix == ".jsonl" else read_tsv(path)
    pairs = [(text_of(row, TEXT_COLUMNS, path, n), label_of(row, path, n)) for n, row in enumerate(rows, 1)]
    if not pairs:
        raise UserError(f"{path}: no rows; every row needs a text and a label")
    if len(labels := {label for _, label in pairs}) == 1:
        raise UserError(f"{path}: every label is {labels.pop()}; both 0 and 1 are needed to classify")
    return pairs


def write_labelled(path: Path, pairs: Iterable[tuple[str, int]]) -> None:
    """As .jsonl, or as .tsv with the header of GLUE."""
    if path.suffix == ".jsonl":
        write_jsonl(path, ({"text": text, "label": int(label)} for text, label in pairs))
    else:
        write_lines(path, ["sentence\tlabel", *(f"{' '.join(text.split())}\t{int(label)}" for text, label in pairs)])


def read_tsv(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a tab-separated file. Quotation marks are text, as in GLUE."""
    lines = read_lines(path)
    header = lines[0].split("\t")
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise UserError(f"{path}, line {number}: {len(fields)} fields, but the header has {len(header)}")
        yield dict(zip(header, fields, strict=True))


def text_of(row: dict, columns: tuple[str, ...], path: Path, number: int) -> str:
    for column in columns:
        if column in row:
            if isinstance(row[column], str):
                return row[column]
            raise UserError(f"{path}, row {number}: column '{column}' is {type(row[column]).__name__}, not text")
    raise UserError(f"{path}: no column {' or '.join(columns)}; its columns are {', '.join(row)}")


def label_of(row: dict, path: Path, number: int) -> int:
    if "label" not in row:
        raise UserError(f"{path}: no column 'label': {nearest('label', row)}")
    if str(row["label"]) not in ("0", "1"):
        raise UserError(f"{path}, row {number}: label {row['label']!r} is neither 0 (negative) nor 1 (positive)")
    return int(row["label"])
