"""Patterns held against global attention on any tokens: measures over seeds, cost, failures (A App. B)."""

from dataclasses import dataclass, field

import numpy as np
import torch

from clusterlens.attention import user_pattern
from clusterlens.attention.clustering import Settled
from clusterlens.attention.iteration import Attention, by_pattern
from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.profiling import peak_memory, seconds
from clusterlens.attention.study import settle
from clusterlens.attention.tokens import Tokens
from clusterlens.errors import UserError
from clusterlens.logs import log

BASELINE = "global"


@dataclass
class Candidate:
    """One line of the ranking: a registered pattern with its parameters, or a user's file."""

    name: str
    about: str
    pattern: str = ""
    parameters: dict = field(default_factory=dict)
    file: str | None = None

    def attention(self, seed: int) -> Attention:
        """One step of the iteration; patterns that draw something draw it from the seed."""
        if self.file is not None:
            return user_pattern.guarded(user_pattern.load(self.file))
        drawn = {"seed": seed} if "seed" in PATTERNS[self.pattern].options() else {}
        return by_pattern(self.pattern, **(drawn | self.parameters))

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
        name = chosen.get("name") or " ".join([kind, *map(short, parameters.items())])
        about = PATTERNS[kind].summary if kind in PATTERNS else "unknown pattern"
        found.append(Candidate(name, about, kind, parameters))
    found += [Candidate(f"own: {file.rsplit('/', 1)[-1]}", "a function of your own", file=file) for file in files]
    names = [candidate.name for candidate in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two patterns are called '{name}': give one of them another 'name' in diagnose/patterns")
    return found


def short(parameter: tuple[str, object]) -> str:
    name, value = parameter
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if name in ("window", "mode") else f"{name.replace('_', ' ')} {text}"


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
            with user_pattern.time_limit(time_limit):
                for seed, cloud in clouds.items():
                    found = settle(cloud, candidate.attention(seed), references.get(seed), seed=seed, **settings)
                    references.setdefault(seed, found.labels)
                    finding.measures[seed] = found.measures
                    finding.first = finding.first or found
                finding.cost = cost_of(candidate, tokens)
        except (UserError, user_pattern.Broken) as error:
            if candidate.name == BASELINE:
                raise UserError(f"global attention itself cannot be computed on this data: {error}") from None
            finding.failure = str(error)
            log.warning("%s: %s", candidate.name, error)
        else:
            log.info("%s: silhouette %.3f", candidate.name, finding.measures[seeds[0]]["silhouette"])
        findings.append(finding)
    return findings


def cost_of(candidate: Candidate, tokens: Tokens) -> dict[str, float | None]:
    """Seconds, peak bytes and multiply-adds of one application."""
    attention, x = candidate.attention(0), torch.from_numpy(tokens.x)

    def call():
        return attention(x, 0)

    return {
        "seconds": seconds(call),
        "bytes": float(peak_memory(call)),
        "multiply_adds": candidate.multiply_adds(*tokens.x.shape),
    }
