"""The register of attention patterns: a name, a function, its parameters and what it costs."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from clusterlens.attention import pairs
from clusterlens.attention.dense import causal, global_attention, sinkhorn
from clusterlens.attention.hybrid import bigbird, longformer, strided
from clusterlens.attention.linear import linear, linformer, performer, spiking
from clusterlens.attention.windows import dilated, local, overlapping, shifted
from clusterlens.errors import UserError, choose, nearest

SUPPLIED = ("query", "key", "value", "scale", "row_scale", "rows", "iteration")


@dataclass(frozen=True)
class Pattern:
    """`function(query, key, value, *, scale, ...)`, (..., n, d) to (..., n, d); `multiply_adds(n, d, **parameters)`."""

    function: Callable
    multiply_adds: Callable[..., float]
    summary: str
    rescalable: bool = True

    def options(self) -> dict[str, inspect.Parameter]:
        """The parameters that a user sets."""
        return {name: one for name, one in inspect.signature(self.function).parameters.items() if name not in SUPPLIED}

    def takes(self, name: str) -> bool:
        return name in inspect.signature(self.function).parameters


def scored(count: Callable[..., float]) -> Callable[..., float]:
    """Multiply-adds of a pattern that scores the given pairs and weighs as many values."""
    return lambda n, d, **parameters: 2 * d * count(n, **parameters)


PATTERNS = {
    "global": Pattern(global_attention, scored(pairs.all_pairs), "every token sees every token"),
    "local": Pattern(local, scored(pairs.parts), "windows side by side"),
    "overlapping": Pattern(overlapping, scored(pairs.gapped), "a window around each token"),
    "dilated": Pattern(
        dilated,
        lambda n, d, *, window, dilation=2: 2 * d * pairs.gapped(n, window=window, dilation=dilation),
        "a window with gaps",
    ),
    "shifted": Pattern(shifted, scored(pairs.shifting_parts), "windows that move by half their width every other time"),
    "longformer": Pattern(longformer, scored(pairs.windows_and_tokens), "a window around each token and global tokens"),
    "bigbird": Pattern(bigbird, scored(pairs.windows_tokens_and_random), "window, global tokens and random keys"),
    "strided": Pattern(strided, scored(pairs.windows_and_strides), "a window and every stride-th token"),
    "causal": Pattern(causal, scored(pairs.earlier), "each token and those before it"),
    "linear": Pattern(linear, lambda n, d: 2 * n * d * d, "a feature map in place of the softmax", rescalable=False),
    "performer": Pattern(
        performer,
        lambda n, d, *, features=64, seed=0: 4 * n * d * features,
        "the softmax estimated by random features",
    ),
    "linformer": Pattern(linformer, lambda n, d, *, rank=64, seed=0: 4 * n * d * rank, "keys projected to a few"),
    "sinkhorn": Pattern(
        sinkhorn,
        lambda n, d, *, rounds=5: 2 * d * n * n + 2 * rounds * n * n,
        "rows and columns of the attention matrix both sum to one",
    ),
    "spiking": Pattern(
        spiking,
        lambda n, d, *, threshold=1.0: 2 * n * d * d,
        "spikes in place of numbers, no softmax",
        rescalable=False,
    ),
}


def check_parameters(name: str, parameters: dict) -> Pattern:
    """The pattern of that name, once the parameters are known to be complete and its own."""
    pattern = choose("attention pattern", name, PATTERNS)
    options = pattern.options()
    for given in parameters:
        if given not in options:
            hint = nearest(given, options) if options else "it takes none"
            raise UserError(f"pattern '{name}' has no parameter '{given}': {hint}")
    for option, about in options.items():
        if about.default is inspect.Parameter.empty and option not in parameters:
            raise UserError(f"pattern '{name}' needs the parameter '{option}': add '{option}: ...' to it")
    return pattern
