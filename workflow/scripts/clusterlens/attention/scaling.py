"""The four readings of "scale the query", each spelt out: none relies on two names sharing one tensor by accident.

With Q = K = V = X (n, d) and no learned projections:

| mode               | scores            | rows of global tokens | values  | what X becomes |
|--------------------|-------------------|-----------------------|---------|----------------|
| `sdp`              | (X X^T)/√d        | same                  | X       | X              |
| `sq_exact`         | (X/√d) X^T        | same                  | X       | X              |
| `sq_inplace`       | X X^T/d           | X X^T/d^1.5           | X/√d    | X/√d           |
| `sq_inplace_clone` | X X^T/d           | X X^T/d^1.5           | X/√d    | X              |

`sdp` and `sq_exact` are the same function. The in-place modes are what an in-place division of the query does when
the projections are removed and query, key, value and hidden state are one tensor: it divides all of them, and the
residual too.
"""

import math

from torch import Tensor

from clusterlens.attention.cases import MODES
from clusterlens.attention.patterns import Pattern
from clusterlens.errors import UserError


def attend(
    pattern: Pattern, x: Tensor, *, mode: str = "sdp", iteration: int = 0, **parameters
) -> tuple[Tensor, Tensor]:
    """A(X) under a scaling mode, and what X has become: (Z, X), both (..., n, d). `x` is never written to."""
    if mode not in MODES:
        raise UserError(f"unknown scaling '{mode}': allowed: {', '.join(MODES)}")
    if mode != "sdp" and not pattern.rescalable:
        raise UserError(
            f"scaling '{mode}' has no meaning for this pattern, whose formula has no scaled scores: use 'sdp'"
        )
    root = math.sqrt(x.shape[-1])
    if pattern.takes("iteration"):
        parameters["iteration"] = iteration
    if mode == "sdp":
        return pattern.function(x, x, x, scale=1 / root, **parameters), x
    if mode == "sq_exact":
        return pattern.function(x / root, x, x, scale=1.0, **parameters), x
    if pattern.takes("row_scale"):
        parameters["row_scale"] = 1 / root
    divided = x / root
    z = pattern.function(divided, divided, divided, scale=1.0, **parameters)
    return z, divided if mode == "sq_inplace" else x
