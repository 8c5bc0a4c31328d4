"""The settings of simulations: which runs a block of the config describes, and whether each can be run. No torch."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np

from clusterlens.errors import UserError, choose
from clusterlens.particles import matrices
from clusterlens.particles.starts import STARTS


@dataclass(frozen=True)
class Field:
    """What sets a velocity apart: on the sphere, a map x(t) -> x(t + 1) instead, causal, in rescaled tokens."""

    sphere: bool = False
    discrete: bool = False
    causal: bool = False
    rescaled: bool = False


FIELDS = {
    "attention": Field(sphere=True),
    "causal": Field(sphere=True, causal=True),
    "unnormalised": Field(sphere=True),
    "ssa_soft": Field(sphere=True),
    "ssa_hard": Field(sphere=True, discrete=True),
    "free": Field(),
    "free_causal": Field(causal=True),
    "rescaled": Field(rescaled=True),
    "rescaled_mlp": Field(rescaled=True),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One simulation. Systems are all combinations of beta, steepness and seed, the seed changing fastest."""

    field: str = "attention"
    integrator: str = "euler"
    tokens: int = 64
    dimension: int = 3
    heads: int = 1
    beta: float | tuple[float, ...] = 1.0
    steepness: float | tuple[float, ...] = 2.0
    threshold: float = 1.0
    step: float = 0.1
    time: float = 15.0
    start: str = "sphere"
    start_scale: float = 1.0
    query: str | Mapping = "identity"
    key: str | Mapping = "identity"
    value: str | Mapping = "identity"
    mlp: str | Mapping = "identity"
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self):
        field = choose("field", self.field, FIELDS)
        choose("start", self.start, STARTS)
        for name in ("tokens", "dimension", "heads"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}: it has to be 1 or more")
        for name in ("beta", "steepness", "threshold", "step", "time", "start_scale"):
            if not all(math.isfinite(number) for number in several(getattr(self, name))):
                raise UserError(f"{name} is {getattr(self, name)}: it has to be a finite number")
        if self.step <= 0 or self.time < 0:
            raise UserError(
                f"step {self.step} and time {self.time}: the step has to be positive, the time not negative"
            )
        if not self.seeds:
            raise UserError("seeds is empty: give at least one, such as [0]")
        if field.discrete != (self.integrator == "map"):
            wanted = "map" if field.discrete else "euler"
            raise UserError(f"field '{self.field}' does not go with integrator '{self.integrator}': use '{wanted}'")
        if field.rescaled and self.heads > 1:
            raise UserError(f"field '{self.field}' takes one head, not {self.heads}: use 'free' for several heads")
        if self.start == "circle" and self.dimension < 2:
            raise UserError("start 'circle' needs dimension 2 or more, not 1: set 'dimension: 2' or 'start: cube'")
        for name in ("query", "key", "value", "mlp"):
            matrices.check(getattr(self, name), d=self.dimension)

    @property
    def steps(self) -> int:
        return round(self.time / self.step)

    def kept(self, every: int) -> list[int]:
        """The steps that are kept: every so many, the start and the end."""
        return sorted({*range(0, self.steps + 1, every), self.steps})

    @property
    def systems(self) -> list[tuple[float, float, int]]:
        return list(product(several(self.beta), several(self.steepness), self.seeds))


def several(value) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


NAMES = {field.name for field in fields(Settings)}


def settings_from(values: Mapping) -> Settings:
    """Settings from plain config values: lists become tuples."""
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return Settings(**plain)


def simulations(block: Mapping) -> Iterator[tuple[str, Settings]]:
    """The named simulations of one item: its variants, each for every value of the swept key, over common settings."""
    common = {key: block[key] for key in block if key in NAMES}
    swept = block.get("sweep") or {}
    if len(swept) > 1:
        raise UserError(f"sweep names {len(swept)} keys ({', '.join(swept)}): sweep one, or use variants")
    for variant, changes in (block.get("variants") or {"": {}}).items():
        for key, values in swept.items() or [(None, [None])]:
            for value in values:
                label = variant if key is None else f"{variant} {key}={value}".strip()
                choice = {} if key is None else {key: value}
                yield label, settings_from(common | dict(changes) | choice)


def within(snapshots: list[float], settings: Settings) -> list[float]:
    """The snapshots that a simulation reaches; variants may end earlier than others."""
    return [t for t in snapshots if t <= settings.time + 1e-9]


def snapshot_indices(times: np.ndarray, snapshots: list[float]) -> list[int]:
    """Where the snapshots are among the kept times; a snapshot between two of them is refused."""
    indices = [int(np.abs(times - t).argmin()) for t in snapshots]
    for t, index in zip(snapshots, indices, strict=True):
        if abs(times[index] - t) > 1e-9:
            raise UserError(
                f"snapshot {t:g} is not a kept time: the nearest is {times[index]:g}, change snapshots or step"
            )
    return indices
