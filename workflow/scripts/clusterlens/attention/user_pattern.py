"""A user's own attention: a Python file with a function `attention(x) -> z`, run in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path

import torch
from torch import Tensor

from clusterlens.attention.iteration import Attention
from clusterlens.attention.user_process import APPLY, COST, FINE, Broken, pack, unpack

LIBRARY = Path(__file__).resolve().parents[2]
STARTING = 120.0  # seconds for Python to start on a busy machine
STOPPED = "stopped after {:g} seconds, the limit in diagnose/time_limit"


class UserPattern:
    """A file in its process, which is killed when the time is up or the block ends."""

    def __init__(self, path: str, *, limit: float) -> None:
        self.limit, self.deadline = limit, time.monotonic() + STARTING
        self.channel, theirs = Pipe()
        words = [sys.executable, "-m", "clusterlens.attention.user_process", path, str(theirs.fileno())]
        paths = [str(LIBRARY), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            words,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # so that what the function itself starts is killed too
        )
        theirs.close()

    def __enter__(self) -> "UserPattern":
        try:
            self.answer()  # Python is up
            self.deadline = time.monotonic() + self.limit
            self.answer()  # the file is loaded
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.kill()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.channel.close()

    def answer(self) -> bytes:
        try:
            if not self.channel.poll(max(0.0, self.deadline - time.monotonic())):
                raise Broken(STOPPED.format(self.limit))
            said = self.channel.recv_bytes()
        except (EOFError, OSError):
            raise Broken(f"its process ended by itself, {how_it_ended(self.process.wait())}") from None
        if said[:1] != FINE:
            raise Broken(said[1:].decode())
        return said[1:]

    def ask(self, word: bytes, x: Tensor) -> bytes:
        try:
            self.channel.send_bytes(word)
            self.channel.send_bytes(pack(x.detach().cpu().numpy()))
        except OSError:
            pass  # it has ended: the answer says how
        return self.answer()

    def attention(self, seed: int) -> Attention:
        """The function as one step of the iteration, its answer checked; it draws nothing from the seed."""

        def step(x: Tensor, iteration: int) -> tuple[Tensor, Tensor]:
            return checked(torch.from_numpy(unpack(self.ask(APPLY, x))), x, iteration), x

        return step

    def cost(self, x: Tensor) -> dict[str, float]:
        """Seconds and peak bytes of one application, measured in its process."""
        return json.loads(self.ask(COST, x))


def how_it_ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def checked(z: Tensor, x: Tensor, iteration: int) -> Tensor:
    if z.shape != x.shape:
        raise Broken(
            f"attention(x) gave the shape {tuple(z.shape)} for x of shape {tuple(x.shape)}: they must be equal"
        )
    if not torch.isfinite(z).all():
        wrong = int((~torch.isfinite(z)).any(dim=-1).sum())
        raise Broken(f"attention(x) gave NaN or infinity for {wrong} of {len(z)} tokens in iteration {iteration}")
    return z.to(x)


@contextmanager
def time_limit(limit: float) -> Iterator[None]:
    """Stop a block of our own code after so many seconds."""

    def stop(*_):
        raise Broken(STOPPED.format(limit))

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
