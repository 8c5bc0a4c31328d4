"""A picture and its mask, cut to a square and brought to the size that the paper works on."""

from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from clusterlens.errors import UserError


def open_image(path: Path, mode: str) -> Image.Image:
    try:
        with Image.open(path) as image:
            return image.convert(mode)
    except (UnidentifiedImageError, OSError) as error:
        raise UserError(f"{path}: not a readable image ({type(error).__name__}); PNG and JPEG are read") from None


def prepare(picture: Path, mask: Path, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Image as uint8 (size, size, 3) and mask as bool (size, size); white in the mask file is the object."""
    image, outline = open_image(picture, "RGB"), open_image(mask, "L")
    if image.size != outline.size:
        raise UserError(f"{mask}: {outline.size} pixels, but {picture.name} has {image.size}; the two must agree")
    image, outline = square(image), square(outline)
    if image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BOX)
        outline = outline.resize((size, size), Image.Resampling.BOX)
    inside = np.asarray(outline) >= 128
    if inside.all() or not inside.any():
        raise UserError(f"{mask}: the mask is all {'white' if inside.all() else 'black'}; white marks the object")
    if constant(np.asarray(image)):
        raise UserError(f"{picture}: every pixel has the same colour, so that nothing can cluster; give another")
    return np.asarray(image), inside


def constant(image: np.ndarray) -> bool:
    """Whether every pixel of an image (height, width, 3) has the same colour."""
    return bool((image == image[0, 0]).all())


def square(image: Image.Image) -> Image.Image:
    """The largest square in the middle."""
    width, height = image.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return image.crop((left, top, left + side, top + side))
