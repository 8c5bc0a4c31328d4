"""Parameters and multiply-accumulates of a model, counted by thop on the model itself (S Table 1)."""

import contextlib
import io

import torch
from thop import profile
from torch import nn


def complexity(model: nn.Module, image_size: int) -> tuple[int, int]:
    """Trainable parameters, and thop's MACs for one image.

    S calls the latter FLOPs. thop counts the products of linear and convolutional layers and four operations per
    element of a norm; the products of queries, keys and values, which belong to no module, are not counted.
    """
    parameters = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        macs, _ = profile(model, inputs=(torch.zeros(1, 3, image_size, image_size),), verbose=False)
    return parameters, int(macs)


def in_words(count: int) -> str:
    """A count as S prints it: 21342346 is 21.34M, 1383867648 is 1.38B."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if count >= size:
            return f"{count / size:.2f}{unit}"
    return str(count)
