"""From a config block to runs: what is measured in each simulation, what is kept for drawing."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property

import numpy as np
import torch

from clusterlens.errors import choose
from clusterlens.metrics import order
from clusterlens.particles.fields import attention_matrix
from clusterlens.particles.outcomes import settled
from clusterlens.particles.runs import Run
from clusterlens.particles.settings import Settings, simulations, snapshot_indices, within
from clusterlens.particles.simulate import Trajectory, batch, simulate
from clusterlens.particles.theory import frozen_error

GROUP = 4  # tokens that make a cluster a group
WITH_ATTENTION = {"rank", "received_first"}  # measures whose figures show P itself
KEPT_NUMBERS = 200_000  # the final states of all systems are kept up to this many numbers


class Measured:
    """A trajectory as NumPy sees it, with what several measures share computed once."""

    def __init__(self, trajectory: Trajectory, settings: Settings):
        self.trajectory = trajectory
        self.settings = settings
        self.times = trajectory.times
        self.x = trajectory.positions.cpu().double().numpy()  # (T, S, n, d)
        value = batch(settings, "value")
        self.value = np.broadcast_to(value, (len(settings.systems), *value.shape[1:]))  # (S, H, d, d)

    @cached_property
    def turned(self) -> np.ndarray:
        """Angle by which each token has turned about the axis of V's smallest eigenvalue, in degrees, (T, S, n)."""
        axes = self.axes(-self.value)
        angle = np.stack([order.azimuth(self.x[:, system], axis) for system, axis in enumerate(axes)], axis=1)
        return np.unwrap(angle, axis=0, period=360) - angle[0]

    def axes(self, value: np.ndarray) -> np.ndarray:
        """Direction of the largest eigenvalue of symmetric matrices (S, 1, d, d), one for each system, (S, d)."""
        return order.directions(np.stack([order.left_eigenvectors(one[0], leading=True)[0] for one in value]))

    def each(self, measure: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A measure of the tokens, time by time so that the n x n matrices of one time are held at once: (T, S)."""
        return np.stack([measure(x) for x in self.x]).astype(float)

    def attention(self, index: int) -> np.ndarray:
        """P at one kept time, (S, H, n, n)."""
        x, t = self.trajectory.positions[index], float(self.times[index])
        with torch.inference_mode():
            return attention_matrix(self.trajectory.field, t, x, self.trajectory.system).cpu().double().numpy()

    def each_attention(self, measure: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A measure of P, mean over heads: (T, S)."""
        return np.stack([measure(self.attention(index)).mean(-1) for index in range(len(self.times))]).astype(float)

    def heights(self, *, leading: bool) -> list[np.ndarray]:
        """Coordinates along left eigenvectors of V, system by system: (T, n, k) each."""
        covectors = [order.left_eigenvectors(value[0], leading=leading) for value in self.value]
        return [order.heights(self.x[:, system], rows) for system, rows in enumerate(covectors)]


def vertex_distance(m: Measured) -> np.ndarray:
    """Distance to the vertices of the hull of the final tokens, in widths of that hull."""
    corners = [points[order.hull_vertices(points)] for points in m.x[-1]]
    return m.each(lambda x: order.vertex_distance(x, corners))


def levels(m: Measured, *, leading: bool) -> np.ndarray:
    """Number of clusters along V's leading left eigenvector (hyperplanes), or along all its positive directions."""
    counts = [order.count(order.place_labels(height)) for height in m.heights(leading=leading)]
    return np.stack(counts, axis=1).astype(float)


def residual_spread(m: Measured) -> np.ndarray:
    """Spread within the final clusters along V's positive directions, relative to the spread of the start."""
    columns = []
    for height in m.heights(leading=False):
        labels = order.place_labels(height[-1])
        everywhere = np.zeros_like(labels)
        columns.append(order.spread_within(height, labels) / order.spread_within(height[0], everywhere))
    return np.stack(columns, axis=1)


def first_alignment(m: Measured) -> np.ndarray:
    """|cosine| of the first token with the eigenvector of V's largest eigenvalue, for symmetric V."""
    return np.abs((order.directions(m.x[:, :, 0]) * m.axes(m.value)).sum(-1))


def since_start(m: Measured, measure: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A measure of the tokens over its value at the start."""
    values = m.each(measure)
    return values / values[0]


MEASURES: dict[str, Callable[[Measured], np.ndarray]] = {
    "clusters": lambda m: m.each(lambda x: order.count(order.direction_labels(x))),
    "places": lambda m: m.each(lambda x: order.count(order.place_labels(x))),
    "mean_cosine": lambda m: m.each(order.mean_cosine),
    "merged_pairs": lambda m: m.each(order.close_pairs),
    "largest_gap": lambda m: m.each(order.largest_gap),
    "nearest_neighbour": lambda m: m.each(order.nearest_angle),
    "silhouette": lambda m: m.each(lambda x: order.silhouette(x, order.direction_labels(x))),
    "cosine_to_diagonal": lambda m: m.each(order.diagonal_cosine),
    "groups": lambda m: m.each(lambda x: order.count(order.direction_labels(x), members=GROUP)),
    "settled": lambda m: m.each(lambda x: settled(x, np.array(m.settings.systems), m.settings.threshold)),
    "pair_distance": lambda m: since_start(m, order.pair_distance),
    "nearest_distance": lambda m: since_start(m, order.nearest_distance),
    "merged_places": lambda m: m.each(order.merged_places),
    "near_eigenvector": lambda m: m.each(lambda x: order.near_line(x, m.axes(m.value))),
    "near_equator": lambda m: m.each(lambda x: order.near_plane(x, m.axes(-m.value))),
    "turned": lambda m: np.abs(m.turned).mean(-1),
    "common_turn": lambda m: np.abs(m.turned.mean(-1)),
    "received_first": lambda m: m.each_attention(lambda p: order.received(p)[..., 0]),
    "received_median": lambda m: m.each_attention(lambda p: np.median(order.received(p), axis=-1)),
    "distance_to_vertices": vertex_distance,
    "hull_vertices": lambda m: m.each(lambda x: np.array([len(order.hull_vertices(points)) for points in x])),
    "hyperplanes": lambda m: levels(m, leading=True),
    "distance_to_planes": lambda m: np.stack(
        [order.plane_distance(h[..., 0]) for h in m.heights(leading=True)], axis=1
    ),
    "residual_spread": residual_spread,
    "positive_places": lambda m: levels(m, leading=False),
    "rank": lambda m: m.each_attention(order.matrix_rank),
    "distance_to_boolean": lambda m: m.each_attention(order.boolean_distance),
    "attention_to_first": lambda m: m.each_attention(order.first_attention),
    "first_alignment": first_alignment,
    "first_to_others": lambda m: m.each(order.first_cosine),
    "received_by_first": lambda m: m.each_attention(lambda p: p[..., 0].mean(-1)),
    "received_by_median": lambda m: m.each_attention(lambda p: np.median(p.mean(-2), axis=-1)),
    "relative_error": lambda m: frozen_error(m.times, m.x, m.attention(0), m.value),
}


def record(block: Mapping, *, dtype: str, device: torch.device) -> list[Run]:
    """Run everything that the block describes."""
    return [record_one(name, settings, block, dtype=dtype, device=device) for name, settings in simulations(block)]


def record_one(name: str, settings: Settings, block: Mapping, *, dtype: str, device: torch.device) -> Run:
    """One simulation with the block's measures and snapshots."""
    measured = Measured(simulate(settings, dtype=dtype, device=device, every=block.get("every", 1)), settings)
    snapshots = within(block["snapshots"], settings)
    where = snapshot_indices(measured.times, snapshots)
    shows_attention = bool(WITH_ATTENTION & set(block["measures"]))
    shared = (measured.value == measured.value[:1]).all()
    return Run(
        name,
        asdict(settings) | {"systems": settings.systems, "snapshots": snapshots},
        times=measured.times,
        path=measured.x[:, 0].copy(),  # a copy: a view would keep all systems in memory
        final=measured.x[-1].copy() if measured.x[-1].size <= KEPT_NUMBERS else None,
        value=measured.value[:1] if shared else measured.value,
        attention=np.stack([measured.attention(k)[0].mean(0) for k in where]) if shows_attention else None,
        order={measure: choose("measure", measure, MEASURES)(measured) for measure in block["measures"]},
    )
