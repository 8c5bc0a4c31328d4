"""Flows of tokens under trained heads as runs: their shape on principal axes, and how far they have clustered."""

from collections.abc import Mapping

import numpy as np

from clusterlens.metrics import order
from clusterlens.particles.runs import Run
from clusterlens.probing.flow import Flow, flow, principal, start
from clusterlens.probing.heads import Heads

KEPT = 100  # states of a path, besides the start
AXES = 3
TRAINED, RANDOM = "trained", "random"


def flat(x: np.ndarray) -> np.ndarray:
    """n tokens (..., n, d) in as few dimensions as they span, (..., n, min(n, d)), all distances kept."""
    # X^T = Q R with Q orthonormal, so that X X^T = R^T R
    return np.asarray(np.linalg.qr(x.swapaxes(-1, -2), mode="r")).swapaxes(-1, -2)


def since_start(values: np.ndarray) -> np.ndarray:
    """Values (T,) over the first."""
    return values / values[0]


MEASURES = {  # of all scaled distances, (T, n, n)
    "places": lambda apart: order.count(order.components(apart <= order.PLACE_SHARE)).astype(float),
    "pair_distance": lambda apart: since_start(order.off_diagonal_mean(apart)),
    "nearest_distance": lambda apart: since_start(order.nearest_mean(apart)),
    "merged_places": lambda apart: order.off_diagonal_mean((apart <= order.PLACE_SHARE).astype(float)),
}


def trajectory_of(heads: Heads, settings: Mapping, seed: int) -> Flow:
    return flow(
        heads,
        start(heads, settings["tokens"], seed=seed, shape=settings["start"]),
        time=settings["time"],
        step=settings["step"],
        every=max(1, round(settings["time"] / settings["step"] / KEPT)),
    )


def flow_run(heads: Heads, settings: Mapping, *, label: str = "", head: int | None = None) -> Run:
    """The flow from every seed: all measures, and the path of the first seed on three principal axes.

    `head` is the number of a single head, counted from 1.
    """
    order_of: dict[str, list[np.ndarray]] = {measure: [] for measure in MEASURES}
    trajectories = (trajectory_of(heads, settings, seed) for seed in settings["seeds"])
    for index, trajectory in enumerate(trajectories):
        if index == 0:
            times, (path, shares) = trajectory.times, principal(trajectory, AXES)
        apart = order.scaled_distances(flat(trajectory.positions.cpu().numpy()))
        for measure, values in order_of.items():
            values.append(MEASURES[measure](apart))
    about = {
        "field": "principal axes",
        "dimension": heads.hidden,
        "heads": len(heads),
        "head": head,
        "step": settings["step"],
        "time": settings["time"],
        "snapshots": list(settings["snapshots"]),
        "systems": [(1.0, 1.0, seed) for seed in settings["seeds"]],  # beta 1: the scores have the model's own scale
        "shares": shares.tolist(),  # of the variance, by axis
    }
    measures = {measure: np.stack(values, axis=1) for measure, values in order_of.items()}
    return Run(label, about, times=times, path=path, final=None, value=None, attention=None, order=measures)
