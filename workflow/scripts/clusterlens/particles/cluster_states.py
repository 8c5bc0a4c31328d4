"""The states with one, two and three clusters at which S Eq. 9 rests in three dimensions, over beta, tau and threshold.

Coordinates may be permuted in every state; states that differ by nothing else are one state here.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
from scipy.special import lambertw

from clusterlens.metrics.order import CLUSTER_COSINE
from clusterlens.particles.stability import (
    Flow,
    between,
    diagonal_eigenvalue,
    leading,
    newton,
    only_diagonal,
    seen,
    spike,
    within,
)

# The components of a resting cluster in ascending order, as branches of sigma(u) = lambda u: lower, middle, upper.
PATTERNS = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 2], [0, 2, 2], [1, 1, 2], [1, 2, 2], [0, 1, 2]])
KINDS = np.array(["axis", "edge", "axis", "edge", "axis", "edge", "general"])  # one large component, two, all different
RANKS = {"diagonal": (0, 0, 0), "axis": (0, 0, 1), "edge": (0, 1, 1), "general": (0, 1, 2)}
SCAN = 400  # points at which each branch is looked at for states with one cluster
AT_REST = 1e-9  # largest velocity of a state that counts as resting, as a share of the drive
HIGH_BETA = 64.0  # here clusters hardly see each other
FINEST = 1.001  # ratio of two betas between which a state's end is not looked for


def branches(tau: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """All three u with sigma(u) = lambda u, for a range of lambda, where there are three: (G,) -> (G, SCAN, 3)."""
    # g(u) = sigma(u) / u turns where  v - 1 = e^{v - tau threshold},  v = tau u:  v = 1 - W(-e^{1 - tau threshold}),
    # with Lambert's W on both real branches. Between the two turns g rises: each middle u there has one lambda.
    argument = -np.exp(1 - tau * threshold)
    low, high = ((1 - lambertw(argument, branch).real) / tau for branch in (0, -1))
    share = (1 - np.cos(np.pi * (np.arange(SCAN) + 0.5) / SCAN)) / 2
    middle = low[:, None] + (high - low)[:, None] * share
    numbers = {"tau": tau[:, None], "threshold": threshold[:, None]}
    ratio = spike(middle, **numbers) / middle

    def falling(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        for _ in range(50):
            centre = (left + right) / 2
            above = spike(centre, **numbers) / centre > ratio
            left, right = np.where(above, centre, left), np.where(above, right, centre)
        return (left + right) / 2

    lower = falling(np.zeros_like(middle), np.broadcast_to(low[:, None], middle.shape))
    upper = falling(np.broadcast_to(high[:, None], middle.shape), np.maximum(high[:, None], 1.5) + 0 * middle)
    return np.stack([lower, middle, upper], axis=-1)


def one_cluster(tau: np.ndarray, threshold: np.ndarray) -> pd.DataFrame:
    """Every state in which all tokens rest at one point with positive components, for pairs of tau and threshold.

    Columns: the place, components ascending; `copies`, in how many ways its coordinates can be permuted; its cosine
    to the diagonal; the larger eigenvalue of a joint displacement (`joint`), of a token against the others (`within`).
    """
    tau, threshold = np.asarray(tau, dtype=float), np.asarray(threshold, dtype=float)
    cells = np.flatnonzero(~only_diagonal(tau=tau, threshold=threshold))
    # |x|^2 = 1 picks lambda: at a sign change of |x|^2 - 1 along the branches there is a state
    candidates = branches(tau[cells], threshold[cells])[..., PATTERNS]  # (G, SCAN, 7, 3)
    excess = (candidates**2).sum(-1) - 1
    cell, at, pattern = np.nonzero((excess[:, :-1] < 0) != (excess[:, 1:] < 0))
    near, far = excess[cell, at, pattern], excess[cell, at + 1, pattern]
    share = (near / (near - far))[:, None]
    start = (1 - share) * candidates[cell, at, pattern] + share * candidates[cell, at + 1, pattern]
    where = np.concatenate([np.arange(len(tau)), cells[cell]])
    kind = np.concatenate([np.full(len(tau), "diagonal"), KINDS[pattern]])
    place = np.concatenate([np.full((len(tau), 3), 3**-0.5), start])[:, None]
    place /= np.linalg.norm(place, axis=-1, keepdims=True)
    flow = Flow(beta=np.ones(len(where)), tau=tau[where], threshold=threshold[where], shares=np.ones(1))
    place = newton(place, flow)
    joint, apart = leading(between(place, flow)), leading(within(place, flow))[:, 0]
    found = pd.DataFrame(
        {
            "tau": flow.tau,
            "threshold": flow.threshold,
            "kind": kind,
            **{f"x{axis + 1}": place[:, 0, axis] for axis in range(3)},
            "copies": [len(set(permutations(RANKS[name]))) for name in kind],
            "cosine": place[:, 0].sum(-1) / np.sqrt(3),
            "joint": joint,
            "within": apart,
            "stable": (joint < 0) & (apart < 0),
        }
    )
    found = found[at_rest(place, flow)]
    return found.sort_values(["threshold", "tau", "cosine"], ascending=[True, True, False], ignore_index=True)


def at_rest(y: np.ndarray, flow: Flow) -> np.ndarray:
    now = seen(y, flow)
    return np.abs(now.drive - now.pull[..., None] * y).max((-1, -2)) < AT_REST * now.drive.max((-1, -2))


@lru_cache(maxsize=256)
def arrangements(kinds: tuple[str, ...], count: int, alike: bool) -> list[tuple[tuple[int, tuple[int, ...]], ...]]:
    """Ways to put `count` clusters at different copies of the given places, each a place's index and its coordinates.

    Ways that differ by a permutation of the coordinates, or of clusters that are alike, are given once.
    """
    places = [(index, ranks) for index, kind in enumerate(kinds) for ranks in sorted(set(permutations(RANKS[kind])))]
    chosen: dict = {}
    for way in combinations(places, count) if alike else permutations(places, count):
        turned = [[(index, tuple(ranks[p] for p in turn)) for index, ranks in way] for turn in permutations(range(3))]
        chosen.setdefault(min(tuple(sorted(one) if alike else one) for one in turned), way)
    return list(chosen.values())


def isolated(single: pd.DataFrame, shares: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """States of several clusters that do not see each other (beta infinite): each at a stable place of its own."""
    rows, starts = [], []
    alike = bool(np.allclose(shares, shares[0]))
    for (threshold, tau), group in single[single["stable"]].groupby(["threshold", "tau"]):
        kinds, places = tuple(group["kind"]), group[["x1", "x2", "x3"]].to_numpy()
        for way in arrangements(kinds, len(shares), alike):
            name = " + ".join(kinds[index] for index, _ in way)
            rows.append({"tau": tau, "threshold": threshold, "clusters": len(shares), "kinds": name})
            starts.append([places[index][np.argsort(np.argsort(ranks, kind="stable"))] for index, ranks in way])
    columns = ["tau", "threshold", "clusters", "kinds"]
    return pd.DataFrame(rows, columns=columns), np.array(starts).reshape(len(rows), len(shares), 3)


def holds(y: np.ndarray, flow: Flow) -> np.ndarray:
    """Whether a state rests, is stable, and has clusters that count as different."""
    good = at_rest(y, flow) & (closest(y) < CLUSTER_COSINE)
    y, flow = y[good], flow.of(good)
    good[good] = (leading(between(y, flow)) < 0) & (leading(within(y, flow)) < 0).all(-1)
    return good


def closest(y: np.ndarray) -> np.ndarray:
    """Largest cosine of two clusters."""
    return (y @ y.swapaxes(-1, -2))[..., *np.triu_indices(y.shape[-2], 1)].max(-1)


def descend(y: np.ndarray, flow: Flow, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Follow stable states to lower beta, down to the floor or to where each one ends; the states and their betas."""
    y, beta, stride = y.copy(), np.array(flow.beta), np.full(len(y), 1.3)
    while len(going := np.flatnonzero((beta > floor) & (stride > FINEST))):
        lower = Flow(
            beta=np.maximum(beta[going] / stride[going], floor),
            tau=flow.tau[going],
            threshold=flow.threshold[going],
            shares=flow.shares,
        )
        there = newton(y[going], lower)
        close = ((there * y[going]).sum(-1) > 0.95).all(-1)
        good = close & holds(there, lower)
        y[going[good]], beta[going[good]] = there[good], lower.beta[good]
        stride[going[~good]] **= 0.5
    return y, beta


def several_clusters(
    single: pd.DataFrame, *, betas: Sequence[float] | np.ndarray, shares: Sequence[float] | np.ndarray
) -> pd.DataFrame:
    """The stable states of as many clusters as there are shares, one row for each beta at which a state exists.

    `single` is what `one_cluster` found. Each state is followed from high beta down to where it ends, `lowest_beta`;
    states that exist at lower beta only are not looked for (none was found from random starts).
    """
    given = np.asarray(shares, dtype=float)
    states, y = isolated(single, given)
    flow = Flow(
        beta=np.full(len(y), HIGH_BETA),
        tau=states["tau"].to_numpy(float),
        threshold=states["threshold"].to_numpy(float),
        shares=given,
    )
    y = newton(y, flow)
    good = holds(y, flow)
    states, y, flow = states[good], y[good], flow.of(good)
    rows = []
    for floor in sorted(betas, reverse=True):
        y, beta = descend(y, flow, floor)
        flow = Flow(beta=beta, tau=flow.tau, threshold=flow.threshold, shares=given)
        rows.append(
            states.assign(
                beta=floor,
                between=leading(between(y, flow)),
                within=leading(within(y, flow)).max(-1),
                cosine=(y.sum(-1) / np.sqrt(3)) @ given,
                closest=closest(y),
            )[beta <= floor]
        )
    lowest = pd.Series(descend(y, flow, 0.1)[1], index=states.index)
    table = pd.concat(rows)
    return table.assign(lowest_beta=lowest.loc[table.index]).reset_index(drop=True)


def equal_clusters(single: pd.DataFrame, count: int, *, betas: Sequence[float] | np.ndarray) -> pd.DataFrame:
    """The stable states of so many clusters of equal shares."""
    return several_clusters(single, betas=betas, shares=np.full(count, 1 / count))


def stability_map(
    *, betas: Sequence[float] | np.ndarray, taus: Sequence[float] | np.ndarray, thresholds: Sequence[float]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The map over a grid, one row for each beta, tau and threshold; the states of one cluster; those of two and three.

    In the map `diagonal`, `axis`, `edge` and `general` say whether such a state of one cluster is stable, unstable or
    absent; `one`, `two`, `three` count the stable states of clusters with equal shares.
    """
    pairs = np.array(list(product(taus, thresholds)), dtype=float)
    single = one_cluster(*pairs.T)
    several = pd.concat([equal_clusters(single, count, betas=betas) for count in (2, 3)], ignore_index=True)
    cell = ["tau", "threshold"]
    table = pd.DataFrame(product(betas, taus, thresholds), columns=["beta", *cell]).astype(float)
    table["diagonal_eigenvalue"] = diagonal_eigenvalue(tau=table["tau"], threshold=table["threshold"])
    table["only_diagonal"] = only_diagonal(tau=table["tau"], threshold=table["threshold"])
    found = single.groupby([*cell, "kind"])["stable"].any().map({True: "stable", False: "unstable"}).unstack()
    table = table.join(found.reindex(columns=list(RANKS)).astype(object).fillna("absent"), on=cell)
    stable = single[single["stable"]]
    chosen = stable.sort_values("joint").groupby(cell)[["kind", "cosine", "joint", "within"]].first()
    table = table.join(chosen.add_prefix("firmest_"), on=cell)
    table = table.join(stable.groupby(cell).size().rename("one"), on=cell)
    for count, name in ((2, "two"), (3, "three")):
        states = several[several["clusters"] == count].groupby(["beta", *cell]).size().rename(name)
        table = table.join(states, on=["beta", *cell])
    counts = ["one", "two", "three"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table, single, several
