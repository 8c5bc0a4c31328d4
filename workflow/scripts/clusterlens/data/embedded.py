"""Stand-ins that need no download: made from what installed packages ship, or from a seed; always labelled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlens.data import grammar
from clusterlens.data.formats import write_arrays, write_csv
from clusterlens.data.prose import passages
from clusterlens.data.text import write_documents, write_labelled, write_lines
from clusterlens.errors import UserError
from clusterlens.provenance import EMBEDDED, stand_in

GROUND = (190, 185, 178)  # close enough to the fur that, in the shade, the two have colours in common
FUR = (slice(20, 90), slice(120, 260))  # the forehead of scikit-image's cat: fur and nothing else
LIGHT = (1.15, 0.8)  # from above: brightness of the first and the last row
GRAIN = 6.0  # standard deviation of the noise of each pixel
SIZES = {"imdb": (1000, 400), "sst2": (4000, 800)}  # sentences to learn from and to test on


def write(name: str, entry: dict, settings: dict, raw: Path) -> dict:
    """Write the stand-in for a data set as raw files and return what the manifest says of it."""
    if name not in WRITERS:
        known = ", ".join(WRITERS)
        raise UserError(
            f"{name}: no stand-in is embedded (there are some for {known}); set data/{name}/source otherwise"
        )
    WRITERS[name](settings, raw)
    return stand_in(name, entry["embedded"]["label"], EMBEDDED, entry["embedded"].get("declares"))


def write_digits(settings: dict, raw: Path) -> None:
    """1,797 handwritten digits, enlarged from 8x8 to 32x32 and repeated in three channels; every fifth tests."""
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = np.round(digits.images * (255 / 16)).astype(np.uint8)  # (1797, 8, 8)
    large = np.stack([np.asarray(Image.fromarray(one).resize((32, 32), Image.Resampling.BICUBIC)) for one in small])
    images = np.repeat(large[..., None], 3, axis=-1)  # (1797, 32, 32, 3)
    labels = digits.target.astype(np.uint8)
    test = np.arange(len(labels)) % 5 == 4
    arrays = {"train_x": images[~test], "train_y": labels[~test], "test_x": images[test], "test_y": labels[test]}
    write_arrays(raw / "images.npz", arrays)


def write_prose_documents(settings: dict, raw: Path) -> None:
    write_documents(raw / "c4.jsonl", passages())


def write_prose_lines(settings: dict, raw: Path) -> None:
    for split in ("train", "valid", "test"):
        write_lines(raw / f"{split}.txt", passages(split))


def write_reviews(settings: dict, raw: Path) -> None:
    train, test = SIZES["imdb"]
    write_labelled(raw / "train.jsonl", grammar.reviews(train, seed=settings["seed"], held_out=False))
    write_labelled(raw / "test.jsonl", grammar.reviews(test, seed=settings["seed"], held_out=True))


def write_sentences(settings: dict, raw: Path) -> None:
    train, test = SIZES["sst2"]
    write_labelled(raw / "train.tsv", grammar.sentences(train, seed=settings["seed"], held_out=False))
    write_labelled(raw / "dev.tsv", grammar.sentences(test, seed=settings["seed"], held_out=True))


def write_breast_cancer(settings: dict, raw: Path) -> None:
    """Three measurements that all rise with malignancy, as the diabetes table's rise with diabetes."""
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).frame
    columns = {
        "mean radius": "mean_radius",
        "mean texture": "mean_texture",
        "mean concave points": "mean_concave_points",
    }
    table = frame[list(columns)].rename(columns=columns).assign(malignant=1 - frame["target"])
    write_csv(raw / "diabetes_prediction_dataset.csv", table)


def write_wine(settings: dict, raw: Path) -> None:
    """Two cultivars and three measurements, of which one falls with the label, as in the heart table."""
    from sklearn.datasets import load_wine

    frame = load_wine(as_frame=True).frame
    frame = frame[frame["target"] < 2]
    table: pd.DataFrame = frame[["alcalinity_of_ash", "proline", "alcohol"]].assign(first_cultivar=1 - frame["target"])
    write_csv(raw / "heart.csv", table)


def write_horse(settings: dict, raw: Path) -> None:
    """A horse's silhouette with a fur texture on a plain background, lit from above, with grain; its mask is exact.

    Without the shade every attention pattern finds the mask: light and colours were chosen so that patterns differ.
    """
    from PIL import Image
    from skimage import data

    size = settings["size"]
    horse = ~data.horse()  # (328, 400), True inside
    side = max(horse.shape)
    padded = np.zeros((side, side), dtype=np.uint8)
    top, left = (side - horse.shape[0]) // 2, (side - horse.shape[1]) // 2
    padded[top : top + horse.shape[0], left : left + horse.shape[1]] = horse * np.uint8(255)
    mask = np.asarray(Image.fromarray(padded).resize((size, size), Image.Resampling.BOX)) >= 128  # (size, size)
    fur = np.asarray(Image.fromarray(data.chelsea()[FUR]).resize((size, size), Image.Resampling.BOX))
    light = np.linspace(*LIGHT, size)[:, None, None]
    grain = np.random.default_rng(0).normal(0, GRAIN, (size, size, 3))
    image = light * np.where(mask[..., None], fur, np.array(GROUND)) + grain  # (size, size, 3)
    Image.fromarray(np.clip(image.round(), 0, 255).astype(np.uint8)).save(raw / "picture.png")
    Image.fromarray(mask.astype(np.uint8) * np.uint8(255)).save(raw / "mask.png")


WRITERS: dict[str, Callable[[dict, Path], None]] = {
    "cifar10": write_digits,
    "c4": write_prose_documents,
    "wikitext2": write_prose_lines,
    "imdb": write_reviews,
    "sst2": write_sentences,
    "diabetes": write_breast_cancer,
    "heart": write_wine,
    "picture": write_horse,
}
