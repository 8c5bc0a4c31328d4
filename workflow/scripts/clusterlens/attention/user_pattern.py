"""A user's own attention: a Python file with a function `attention(x) -> z`, loaded and guarded."""

import runpy
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from clusterlens.attention.iteration import Attention


class Broken(Exception):
    """What is wrong with a user's function, in one line."""


def load(path: str) -> Callable:
    """The function `attention` of a Python file."""
    try:
        names = runpy.run_path(path, run_name="own_attention")
    except (Exception, SystemExit) as error:
        raise Broken(f"{Path(path).name} could not be loaded: {one_line(error)}") from None
    function = names.get("attention")
    if not callable(function):
        raise Broken(f"{Path(path).name} has no function 'attention': define attention(x) -> z")
    return function


def guarded(function: Callable) -> Attention:
    """The function as one step of the iteration: given a NumPy copy (n, d), its answer checked."""

    def step(x: Tensor, iteration: int) -> tuple[Tensor, Tensor]:
        given = x.detach().cpu().numpy().copy()
        try:
            answer = function(given)
        except (Exception, SystemExit) as error:
            hint = " (x is a NumPy array: torch.as_tensor(x) makes a tensor of it)" if "Tensor" in str(error) else ""
            raise Broken(f"attention(x) stopped in iteration {iteration} with {one_line(error)}{hint}") from None
        return checked(answer, x, iteration), x

    return step


def checked(answer: object, x: Tensor, iteration: int) -> Tensor:
    try:
        z = torch.as_tensor(np.asarray(answer.detach().cpu() if isinstance(answer, Tensor) else answer, dtype=float))
    except (TypeError, ValueError):
        raise Broken(f"attention(x) gave {type(answer).__name__}, but an array of numbers is needed") from None
    if z.shape != x.shape:
        raise Broken(
            f"attention(x) gave the shape {tuple(z.shape)} for x of shape {tuple(x.shape)}: they must be equal"
        )
    if not torch.isfinite(z).all():
        wrong = int((~torch.isfinite(z)).any(dim=-1).sum())
        raise Broken(f"attention(x) gave NaN or infinity for {wrong} of {len(z)} tokens in iteration {iteration}")
    return z.to(x)


def one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__


@contextmanager
def time_limit(limit: float) -> Iterator[None]:
    """Stop the block after so many seconds, where the system has interval timers."""

    def stop(*_):
        raise Broken(f"stopped after {limit:g} seconds, the limit in diagnose/time_limit")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
