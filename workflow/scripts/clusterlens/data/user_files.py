"""The user's own data, named under `files` in the config."""

import shutil
from pathlib import Path

from clusterlens.data import formats, pictures, tables, text
from clusterlens.data.registry import raw_names
from clusterlens.data.settings import named
from clusterlens.provenance import OWN, stand_in


def copy(name: str, entry: dict, settings: dict, raw: Path) -> dict:
    """Bring the user's files into the raw layout of the data set they replace, and return their stand-in entry."""
    files = {key: Path(path) for key, path in named(settings).items()}
    COPIERS[entry["kind"]](files, [names[0] for names in raw_names(entry)], raw)
    return stand_in(name, f"{', '.join(file.name for file in files.values())} for {entry['title']}", OWN)


def copy_images(files: dict[str, Path], names: list[str], raw: Path) -> None:
    formats.write_arrays(raw / "images.npz", formats.read_images(files["images"]))


def copy_documents(files: dict[str, Path], names: list[str], raw: Path) -> None:
    text.write_documents(raw / names[0], text.read_documents(files["text"]))


def copy_text(files: dict[str, Path], names: list[str], raw: Path) -> None:
    for file, name in zip(files.values(), names, strict=True):
        text.write_lines(raw / name, text.read_lines(file))


def copy_labelled(files: dict[str, Path], names: list[str], raw: Path) -> None:
    for file, name in zip(files.values(), names, strict=True):
        text.write_labelled(raw / name, text.read_labelled(file))


def copy_table(files: dict[str, Path], names: list[str], raw: Path) -> None:
    tables.read_table(files["table"])
    shutil.copyfile(files["table"], raw / names[0])


def copy_picture(files: dict[str, Path], names: list[str], raw: Path) -> None:
    pictures.open_image(files["image"], "RGB").save(raw / names[0])
    pictures.open_image(files["mask"], "L").save(raw / names[1])


def copy_checkpoint(files: dict[str, Path], names: list[str], raw: Path) -> None:
    for file in sorted(files["folder"].iterdir()):
        if file.is_file():
            shutil.copyfile(file, raw / file.name)


def copy_tokenizer(files: dict[str, Path], names: list[str], raw: Path) -> None:
    for file, name in zip(files.values(), names, strict=True):
        shutil.copyfile(file, raw / name)


COPIERS = {
    "images": copy_images,
    "documents": copy_documents,
    "text": copy_text,
    "labelled_text": copy_labelled,
    "table": copy_table,
    "picture": copy_picture,
    "checkpoint": copy_checkpoint,
    "tokenizer": copy_tokenizer,
}
