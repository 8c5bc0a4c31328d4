"""Labelled images in memory: balanced subsets, normalisation, and the augmentation of a training batch."""

import numpy as np
import torch
from PIL import Image
from timm.data import Mixup
from timm.data.auto_augment import RandAugment, posterize, rand_augment_transform
from timm.data.mixup import mixup_target
from timm.data.random_erasing import RandomErasing

from clusterlens.data.subsets import HELD_OUT, balanced
from clusterlens.errors import UserError


def load_split(
    path: str, split: str, *, classes: int, limit: int | None, trained: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (n, height, width, 3) as bytes and labels (n,) of `train` or `test`, at most `limit` of them.

    Of `held_out`, those of `train` that training with `trained` images leaves out, to choose settings on.
    """
    source = "train" if split == HELD_OUT else split
    with np.load(path) as file:
        images, labels = file[f"{source}_x"], file[f"{source}_y"].astype(np.int64)
    if split == HELD_OUT:
        if trained is None or trained >= len(labels):
            raise UserError(
                f"all {len(labels):,} images of {path} are used to train, none is held out: lower training/train_images"
            )
        left = np.setdiff1d(np.arange(len(labels)), balanced(labels, trained))
        images, labels = images[left], labels[left]
    counts = np.bincount(labels, minlength=classes)
    if len(counts) > classes:
        raise UserError(
            f"{path} has {len(counts)} classes, the model {classes}: set architecture classes to {len(counts)}"
        )
    if counts.min() == 0:
        raise UserError(
            f"class {counts.argmin()} has no {split} image in {path}: give it some, or set architecture classes lower"
        )
    if limit is not None and limit < len(labels):
        kept = balanced(labels, limit)
        images, labels = images[kept], labels[kept]
    return torch.from_numpy(images), torch.from_numpy(labels)


def random_augment(policy: str, fill: tuple[int, ...]) -> RandAugment:
    """timm's policy. It now and then keeps 0 bits of each colour, which leaves black and which Pillow refuses."""
    transform = rand_augment_transform(policy, {"img_mean": fill})
    for operation in transform.ops:
        if operation.aug_fn is posterize:
            operation.aug_fn = posterize_or_black
    return transform


def posterize_or_black(image: Image.Image, bits: int, **options) -> Image.Image:
    return posterize(image, bits, **options) if bits > 0 else Image.new(image.mode, image.size)


class Preparation:
    """From bytes to what the model sees: augmentation for training, normalisation for both."""

    def __init__(self, training: dict, classes: int, device: torch.device):
        self.device = device
        self.flip = training["horizontal_flip"]
        self.mean = torch.tensor(training["normalization_mean"], device=device).view(3, 1, 1) * 255
        self.std = torch.tensor(training["normalization_std"], device=device).view(3, 1, 1) * 255
        fill = tuple(round(255 * value) for value in training["normalization_mean"])
        self.policy = random_augment(training["random_augment"], fill) if training["random_augment"] else None
        erasing = training["random_erasing"]
        self.erase = RandomErasing(erasing, mode="const", device=device) if erasing else None
        self.classes, self.smoothing = classes, training["label_smoothing"]
        alphas = {"mixup_alpha": training["mixup_alpha"], "cutmix_alpha": training["cutmix_alpha"]}
        shared = {"label_smoothing": self.smoothing, "num_classes": classes}
        self.mixup = Mixup(**alphas, prob=training["mixup_probability"], **shared) if any(alphas.values()) else None

    def __call__(self, images: torch.Tensor) -> torch.Tensor:  # (B, H, W, 3) bytes -> (B, 3, H, W)
        return (images.to(self.device).permute(0, 3, 1, 2).float() - self.mean) / self.std

    def augment(self, images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """A training batch with soft labels (B, classes): smoothed and, unless Mixup is off, mixed."""
        if self.policy is not None:
            pictures = [self.policy(Image.fromarray(image.numpy())) for image in images]
            images = torch.from_numpy(np.stack([np.asarray(picture) for picture in pictures]))
        x, labels = self(images), labels.to(self.device)
        mirrored = torch.rand(len(x)) < self.flip
        x[mirrored.to(self.device)] = x[mirrored.to(self.device)].flip(-1)
        if self.mixup is None:
            targets = mixup_target(labels, self.classes, 1.0, self.smoothing)
        else:
            x, targets = self.mixup(x, labels)
        return (self.erase(x) if self.erase is not None else x), targets
