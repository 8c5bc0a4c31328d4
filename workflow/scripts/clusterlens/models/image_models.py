"""S's image models by the name of their run, and the checks that their settings must pass."""

from torch import nn

from clusterlens.errors import UserError, choose
from clusterlens.models.spikformer import Spikformer
from clusterlens.models.vit import ViT

RUNS = {
    "vit": (ViT, {}),
    "vit_no_mlp": (ViT, {"mlp": False}),
    "vit_no_skip": (ViT, {"skip": False}),
    "spikformer": (Spikformer, {}),
    "spikformer_no_mlp": (Spikformer, {"mlp": False}),
    "spikformer_no_skip": (Spikformer, {"skip": False}),
    "spikformer_parametric": (Spikformer, {"learned": True}),
}


def build(run: str, architecture: dict) -> nn.Module:
    """The model of a run, freshly initialised from torch's current random state."""
    family, options = choose("run", run, RUNS)
    check(architecture)
    return family(architecture, **options)


def check(architecture: dict) -> None:
    """Refuse settings that no schema can refuse, because they are wrong only together."""
    width, heads = architecture["embedding_dimension"], architecture["heads"]
    if width % heads:
        fitting = ", ".join(str(n) for n in range(1, min(width, 16) + 1) if width % n == 0)
        raise UserError(
            f"{heads} heads do not divide the embedding dimension {width}: set architecture heads to one of {fitting}"
        )
    if architecture["time_steps"] < 1:
        raise UserError(f"architecture time_steps is {architecture['time_steps']}: a spiking model needs at least 1")
    image, patch = architecture["image_size"], architecture["patch_size"]
    if image % patch:
        raise UserError(
            f"patches of {patch} pixels do not tile an image of {image}: set architecture patch_size to a divisor"
        )


def check_images(shape: tuple[int, ...], architecture: dict) -> None:
    """Refuse images (count, height, width, 3) of another size than the model's."""
    side = architecture["image_size"]
    if tuple(shape[1:]) != (side, side, 3):
        found = "x".join(map(str, shape[1:]))
        raise UserError(
            f"images are {found}, the model takes {side}x{side}x3: set architecture image_size or resize the images"
        )
