"""The simulated items of S."""

import numpy as np

from clusterlens.figures import spiking_particles as figures
from clusterlens.figures import style
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.figures.stability import fig1_stability
from clusterlens.metrics.numbers import number, share
from clusterlens.metrics.order import CLUSTER_COSINE
from clusterlens.particles.cluster_states import stability_map
from clusterlens.particles.numbers import name_of, snapshot_numbers
from clusterlens.particles.outcomes import outcomes
from clusterlens.particles.runs import Run
from clusterlens.simulated.item import SimulatedItem


def dispersion_numbers(runs: list[Run]) -> list[dict]:
    """How far the mean cosine of pairs falls below its value at the start, at its lowest."""
    return [
        number(run.label, "largest fall of mean cosine", run.by_seed(cosine[0] - cosine.min(0)))
        for run in runs
        for cosine in [run.order["mean_cosine"]]
    ]


def sweep_numbers(runs: list[Run]) -> list[dict]:
    """Order parameters for every pair of beta and tau; the first threshold carries no suffix."""
    rows = []
    for run in runs:
        suffix = "" if run is runs[0] else f" {run.label}"
        for beta, tau in np.unique(run.systems[:, :2], axis=0):
            chosen = run.chosen(beta=beta, steepness=tau)
            label = f"beta={beta:g} tau={tau:g}{suffix}"
            rows.append(number(label, "particles", run.path.shape[1]))
            for t in run.snapshots:
                row, now = f"{label} t={t:g}", run.at(t)
                rows.append(share(row, "in one cluster", run.by_seed(run.order["clusters"][now] == 1, chosen)))
                rows += [
                    number(row, name_of(measure), run.by_seed(values[now], chosen))
                    for measure, values in run.order.items()
                ]
    return rows


def state_numbers(runs: list[Run]) -> list[dict]:
    """Which states Eq. 9 has: eigenvalues by tau and threshold, and stable states of one, two and three clusters."""
    betas, taus = (np.unique(runs[0].systems[:, column]) for column in (0, 1))
    table, single, several = stability_map(betas=betas, taus=taus, thresholds=[r.settings["threshold"] for r in runs])
    rows = []
    for (tau, threshold), group in single.groupby(["tau", "threshold"]):
        label = f"tau={tau:g} threshold={threshold:g}"
        diagonal = group[group["kind"] == "diagonal"].iloc[0]
        rows.append(number(label, "eigenvalue at diagonal", diagonal["joint"]))
        rows.append(number(label, "eigenvalue within cluster", diagonal["within"]))
        for state in group[group["stable"]].drop_duplicates("kind").itertuples():
            rows.append(number(label, f"cosine of {state.kind} state", state.cosine))
        for count, name in ((2, "two"), (3, "three")):
            chosen = (several["tau"] == tau) & (several["threshold"] == threshold) & (several["clusters"] == count)
            if chosen.any():
                rows.append(number(label, f"lowest beta of {name} clusters", several.loc[chosen, "lowest_beta"].min()))
    for state in table.itertuples():
        label = f"beta={state.beta:g} tau={state.tau:g} threshold={state.threshold:g}"
        rows.append(number(label, "stable states of one cluster", state.one))
        rows.append(number(label, "stable states of several clusters", state.two + state.three))
    return rows


def end_numbers(runs: list[Run]) -> list[dict]:
    """How the simulations end: shares of seeds, by beta, tau and threshold."""
    rows = []
    for (beta, tau, threshold, time), group in outcomes(runs).groupby(["beta", "tau", "threshold", "time"]):
        label, ends = f"beta={beta:g} tau={tau:g} threshold={threshold:g} t={time:g}", group.set_index("seed")
        rows.append(number(label, "clusters", ends["clusters"]))
        rows.append(share(label, "in one cluster", ends["clusters"] == 1))
        rows.append(share(label, "at the diagonal", ends["place"] == "diagonal"))
        rows.append(share(label, "near an axis", ends["place"] == "axis"))
        rows.append(share(label, "settled", ends["settled"] > CLUSTER_COSINE))
    return rows


ITEMS = {
    "fig1": SimulatedItem(
        figures.fig1,
        tables=(dispersion_numbers, snapshot_numbers),
        film=(FilmPanel(0, style.BLUE, "Eq. 9"), FilmPanel(1, style.ORANGE, "Eq. 8")),
    ),
    "fig1_sweep": SimulatedItem(figures.fig1_sweep, tables=(sweep_numbers,)),
    "fig1_stability": SimulatedItem(fig1_stability, tables=(state_numbers, end_numbers)),
}
