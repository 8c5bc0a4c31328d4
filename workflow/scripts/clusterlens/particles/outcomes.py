"""Where random starts end under S Eq. 9, to compare with the states that theory allows. No torch."""

import numpy as np
import pandas as pd

from clusterlens.metrics import order
from clusterlens.particles.cluster_states import one_cluster
from clusterlens.particles.runs import Run
from clusterlens.particles.stability import Flow, seen


def outcomes(runs: list[Run]) -> pd.DataFrame:
    """One row for each system at its end: clusters, cosine to the diagonal, place, and how settled the tokens are.

    `place` names the state of one cluster within a cosine of .99 of all tokens' mean: diagonal, axis, edge or general
    as in `cluster_states.one_cluster`; it is "elsewhere" for one cluster at none of them and "apart" for several.
    """
    rows = []
    for run in runs:
        systems = pd.DataFrame(run.systems, columns=["beta", "tau", "seed"]).astype({"seed": int})
        threshold, taus = run.settings["threshold"], systems["tau"].unique()
        states = one_cluster(taus, np.full(len(taus), threshold))
        clusters = run.order["clusters"][-1]
        rows.append(
            systems.assign(
                threshold=threshold,
                time=run.times[-1],
                clusters=clusters,
                cosine=run.order["cosine_to_diagonal"][-1],
                settled=run.order["settled"][-1],
                place=np.where(clusters == 1, places(run.final, systems["tau"].to_numpy(), states), "apart"),
            )
        )
    return pd.concat(rows, ignore_index=True)


def settled(x: np.ndarray, systems: np.ndarray, threshold: float) -> np.ndarray:
    """Smallest cosine of a token with the drive sigma(m) on it, system by system.

    It is 1 where nothing moves any more, whatever the size of the drive. `systems` holds beta and tau, (S, 2 or more).
    """
    n = x.shape[-2]
    now = seen(x, Flow(beta=systems[:, 0], tau=systems[:, 1], threshold=threshold, shares=np.full(n, 1 / n)))
    return (now.pull / np.linalg.norm(now.drive, axis=-1)).min(-1)


def places(x: np.ndarray, tau: np.ndarray, states: pd.DataFrame) -> np.ndarray:
    """The state of one cluster nearest to the mean direction of each system, if nearer than a cosine of .99."""
    mean = np.sort(order.directions(x.mean(-2)), axis=-1)
    names = np.full(len(x), "elsewhere")
    for steepness, group in states.groupby("tau"):
        chosen = tau == steepness
        cosine = mean[chosen] @ group[["x1", "x2", "x3"]].to_numpy().T
        kinds = group["kind"].to_numpy(str)[cosine.argmax(-1)]
        names[chosen] = np.where(cosine.max(-1) > order.CLUSTER_COSINE, kinds, "elsewhere")
    return names
