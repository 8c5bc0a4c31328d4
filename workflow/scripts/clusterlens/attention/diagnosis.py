"""Patterns compared with global attention on any tokens: measures over seeds, cost, failures (A App. B)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from clusterlens.attention import user_pattern
from clusterlens.attention.cases import MODES
from clusterlens.attention.clustering import Settled
from clusterlens.attention.iteration import Attention, by_pattern
from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.profiling import peak_memory, seconds
from clusterlens.attention.study import settle
from clusterlens.attention.tokens import Tokens
from clusterlens.attention.user_process import Broken
from clusterlens.errors import UserError
from clusterlens.logs import log

BASELINE = "global"


class Runnable(Protocol):
    """A candidate ready to be applied."""

    def attention(self, seed: int) -> Attention: ...
    def cost(self, x: Tensor) -> dict[str, float]: ...


@dataclass(frozen=True)
class Registered:
    """A pattern of the register; one that draws something draws it from the seed."""

    pattern: str
    parameters: dict

    def attention(self, seed: int) -> Attention:
        drawn = {"seed": seed} if "seed" in PATTERNS[self.pattern].options() else {}
        return by_pattern(self.pattern, **(drawn | self.parameters))

    def cost(self, x: Tensor) -> dict[str, float]:
        attention = self.attention(0)

        def call() -> object:
            return attention(x, 0)

        return {"seconds": seconds(call), "bytes": float(peak_memory(call))}


@dataclass
class Candidate:
    """One line of the ranking: a registered pattern with its parameters, or a user's file."""

    name: str
    about: str
    pattern: str = ""
    parameters: dict = field(default_factory=dict)
    file: str | None = None

    @contextmanager
    def running(self, limit: float) -> Iterator[Runnable]:
        """The candidate while it may run; `Broken` when the time is up."""
        if self.file is not None:
            with user_pattern.UserPattern(self.file, limit=limit) as own:
                yield own
        else:
            with user_pattern.time_limit(limit):
                yield Registered(self.pattern, self.parameters)

    def multiply_adds(self, n: int, d: int) -> float | None:
        """Of one application; unknown for a user's file."""
        if self.file is not None:
            return None
        asked = {name: value for name, value in self.parameters.items() if name != "mode"}
        return float(PATTERNS[self.pattern].multiply_adds(n, d, **asked))


def candidates(patterns: list[dict], files: list[str]) -> list[Candidate]:
    """Global attention first, then the chosen patterns and the user's files, each with a name of its own."""
    found = [Candidate(BASELINE, PATTERNS[BASELINE].summary, BASELINE)]
    for chosen in patterns:
        parameters = {key: value for key, value in chosen.items() if key not in ("pattern", "name", "scaling")}
        if chosen.get("scaling", "sdp") != "sdp":
            parameters["mode"] = chosen["scaling"]
        kind = chosen["pattern"]
        name = chosen.get("name") or ", ".join([kind, *map(in_words, parameters.items())])
        about = PATTERNS[kind].summary if kind in PATTERNS else "unknown pattern"
        found.append(Candidate(name, about, kind, parameters))
    found += [Candidate(Path(file).name, "your own function", file=file) for file in files]
    names = [candidate.name for candidate in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two patterns are called '{name}': give one of them another 'name' in diagnose/patterns")
    return found


def in_words(parameter: tuple[str, object]) -> str:
    """`window 64`, `global tokens 0 and -1`, `query scaled in place`."""
    name, value = parameter
    if name == "mode":
        return MODES[str(value)]
    values = value if isinstance(value, list) else [value]
    words = name.replace("_", " ")
    if isinstance(value, list) and len(values) == 1:
        words = words.removesuffix("s")
    return f"{words} {' and '.join(map(str, values))}"


@dataclass
class Finding:
    """What became of one candidate: measures by seed, cost and the first seed's tokens, or why it failed."""

    candidate: Candidate
    measures: dict[int, dict[str, float]] = field(default_factory=dict)
    first: Settled | None = None
    cost: dict[str, float | None] = field(default_factory=dict)
    failure: str = ""

    @property
    def name(self) -> str:
        return self.candidate.name


def diagnose(
    tokens: Tokens, chosen: list[Candidate], *, seeds: list[int], time_limit: float, **settings
) -> list[Finding]:
    """A finding for every candidate; one that breaks is recorded as broken and the others go on.

    `settings` are those of `study.settle`. Rows without an order are shuffled, except for the first seed.
    """
    clouds = {seed: tokens.shuffled(seed) for seed in seeds} | {seeds[0]: tokens}
    references: dict[int, np.ndarray] = {}
    findings = []
    for candidate in chosen:
        finding = Finding(candidate)
        try:
            with candidate.running(time_limit) as running:
                for seed, cloud in clouds.items():
                    found = settle(cloud, running.attention(seed), references.get(seed), seed=seed, **settings)
                    references.setdefault(seed, found.labels)
                    finding.measures[seed] = found.measures
                    finding.first = finding.first or found
                finding.cost = {
                    **running.cost(torch.from_numpy(tokens.x)),
                    "multiply_adds": candidate.multiply_adds(*tokens.x.shape),
                }
        except (UserError, Broken) as error:
            if candidate.name == BASELINE:
                raise UserError(f"global attention itself cannot be computed on this data: {error}") from None
            finding.failure = str(error)
            log.warning("%s: %s", candidate.name, error)
        else:
            log.info("%s: silhouette %.3f", candidate.name, finding.measures[seeds[0]]["silhouette"])
        findings.append(finding)
    return findings
