"""Any data as tokens: a table with chosen columns, an image with its mask, or hidden states."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from clusterlens.data.pictures import constant, open_image
from clusterlens.data.tables import LARGEST, bad_cells, check_numbers, check_separator, pick, read_table
from clusterlens.errors import UserError
from clusterlens.metrics.standard import zscore

FEWEST = 10


@dataclass(frozen=True)
class Tokens:
    """Standardised tokens x (n, d) with what is known about them."""

    x: np.ndarray
    about: str = ""
    ordered: bool = True
    labels: np.ndarray | None = None
    signs: np.ndarray | None = None
    mask: np.ndarray | None = None
    image: np.ndarray | None = None
    features: tuple[str, ...] = ()

    def shuffled(self, seed: int) -> "Tokens":
        """In an order drawn from the seed; tokens with an order of their own stay as they are."""
        if self.ordered:
            return self
        order = np.random.default_rng(seed).permutation(len(self.x))
        return replace(self, x=self.x[order], labels=None if self.labels is None else self.labels[order])


def from_table(path: str, columns: list[str], label: str | None, *, limit: int) -> Tokens:
    """Rows as tokens, numeric columns as features; more rows than `limit` are sampled."""
    table, name = read_table(Path(path)), Path(path).name
    chosen = columns or numeric_columns(table, label, name)
    if not chosen:
        raise UserError(f"{name} has no numeric column: name the features in diagnose/data/columns")
    features = pd.DataFrame({column: pick(table, column, name) for column in chosen})
    truth = None if label is None else pick(table, label, name)
    for column in chosen:
        check_numbers(features[column], name, "mend it, or choose others in diagnose/data/columns")
    kept = np.isfinite(features.to_numpy(float)).all(axis=1) & (True if truth is None else truth.notna().to_numpy())
    dropped = int((~kept).sum())
    rows = np.flatnonzero(kept)
    if len(rows) > limit:
        rows = np.sort(np.random.default_rng(0).choice(rows, limit, replace=False))
    enough(len(rows), name)
    values = features.to_numpy(float)[rows]
    for column, lowest, highest in zip(chosen, values.min(axis=0), values.max(axis=0), strict=True):
        if lowest == highest:
            raise UserError(
                f"{name}: column '{column}' is constant and says nothing; leave it out of diagnose/data/columns"
            )
    about = f"{name}: {len(rows)} of {len(table)} rows as tokens, features {', '.join(chosen)}"
    about += f"; {dropped} rows with gaps left out" if dropped else ""
    if truth is None:
        return Tokens(zscore(values), about, ordered=False)
    labels = two_classes(truth.to_numpy()[rows], f"{name}: label '{label}'")
    signs = np.sign([np.corrcoef(column, labels)[0, 1] for column in values.T])
    return Tokens(zscore(values), f"{about}; label {label}", ordered=False, labels=labels, signs=signs)


def numeric_columns(table: pd.DataFrame, label: str | None, name: str) -> list[str]:
    """Every numeric column but the label; one that would be numeric but for some cells is refused, not passed over."""
    chosen = []
    for column in table.columns.drop(label, errors="ignore"):
        if pd.api.types.is_numeric_dtype(table[column]):
            chosen.append(column)
        elif len(bad_cells(table[column])) < table[column].notna().sum() / 2:
            check_numbers(table[column], name, "mend it, or name the columns to use in diagnose/data/columns")
    return chosen


def two_classes(values: np.ndarray, what: str) -> np.ndarray:
    """A label with two values as 0 and 1, in their order."""
    classes = sorted(set(values.tolist()))
    if len(classes) != 2:
        shown = ", ".join(map(str, classes[:5])) + (", ..." if len(classes) > 5 else "")
        raise UserError(
            f"{what} has {len(classes)} classes ({shown}), but two are needed: choose another or leave it out"
        )
    return (values == classes[1]).astype(int)


def from_image(path: str, mask: str | None, *, limit: int) -> Tokens:
    """Pixels as tokens, row by row; an image of any shape, made smaller where it has more pixels than `limit`."""
    picture, name = open_image(Path(path), "RGB"), Path(path).name
    whole = picture.size
    shrink = min(1.0, (limit / (whole[0] * whole[1])) ** 0.5)
    size = (max(1, int(whole[0] * shrink)), max(1, int(whole[1] * shrink)))
    enough(size[0] * size[1], name)
    image = np.asarray(picture.resize(size, Image.Resampling.BOX) if size != whole else picture)
    if constant(image):
        raise UserError(f"{name}: every pixel has the same colour, so that nothing can cluster; give another")
    inside = None
    if mask is not None:
        outline = open_image(Path(mask), "L")
        if outline.size != whole:
            raise UserError(f"{Path(mask).name} has {outline.size} pixels, but {name} has {whole}: the two must agree")
        inside = np.asarray(outline.resize(size, Image.Resampling.BOX) if size != whole else outline) >= 128
    about = f"{name}: {size[0]} x {size[1]} pixels as tokens" + (
        f", made smaller from {whole[0]} x {whole[1]}" * (size != whole)
    )
    return of_pixels(image, inside, about)


def of_pixels(image: np.ndarray, mask: np.ndarray | None, about: str = "") -> Tokens:
    x = zscore(image.reshape(-1, 3).astype(float))
    return Tokens(x, about, mask=mask, image=image, features=("red", "green", "blue"))


def from_matrix(path: str, *, limit: int) -> Tokens:
    """Hidden states, one row per token: a .npy array or a .csv file of numbers; the first `limit` tokens are taken."""
    name = Path(path).name
    if not name.endswith(".npy"):
        check_separator(Path(path))
    try:
        values = np.load(path, allow_pickle=False) if name.endswith(".npy") else np.genfromtxt(path, delimiter=",")
    except (ValueError, OSError, EOFError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{name} is not a readable matrix ({reason}): give .npy, or .csv with numbers only") from None
    if values.ndim == 3 and values.shape[0] == 1:
        values = values[0]
    if values.ndim != 2:
        raise UserError(f"{name} has the shape {values.shape}, but one sequence (tokens, features) is needed")
    if values.dtype.kind not in "fiu":
        raise UserError(f"{name} holds {values.dtype}, but real numbers are needed")
    if name.endswith(".csv") and len(values) and np.isnan(values[0]).all():
        values = values[1:]
    if not np.isfinite(values).all():
        raise UserError(
            f"{name} has {int((~np.isfinite(values)).sum())} entries that are not finite: remove or fill them"
        )
    return of_hidden(values, name, limit=limit)


def of_hidden(values: np.ndarray, name: str, *, limit: int) -> Tokens:
    """Hidden states (n, d) of one sequence; the first `limit` tokens are taken."""
    enough(len(values), name)
    if np.abs(values).max() > LARGEST:
        raise UserError(f"{name} has {np.abs(values).max():.3g}, too large to compute with: make its numbers smaller")
    if (values[:limit] == values[0]).all():
        raise UserError(f"{name}: every token is the same, so that nothing can cluster; give other hidden states")
    about = f"{name}: {min(len(values), limit)} of {len(values)} tokens with {values.shape[1]} features"
    return Tokens(zscore(values[:limit].astype(float)), about)


def enough(n: int, name: str) -> None:
    if n < FEWEST:
        raise UserError(f"{name} gives {n} tokens, but clusters need at least {FEWEST}")
