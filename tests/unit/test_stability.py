"""Eigenvalues of S Eq. 9 against closed forms, finite differences and simulated growth; its states against searches."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import root

from clusterlens.figures.stability import fig1_stability, shares
from clusterlens.metrics import order
from clusterlens.metrics.numbers import tidy
from clusterlens.particles.cluster_states import (
    RANKS,
    arrangements,
    closest,
    holds,
    one_cluster,
    several_clusters,
    stability_map,
)
from clusterlens.particles.fields import VELOCITIES
from clusterlens.particles.integrators import projected
from clusterlens.particles.outcomes import outcomes
from clusterlens.particles.record import record
from clusterlens.particles.settings import Settings
from clusterlens.particles.simulate import simulate, system_of
from clusterlens.particles.stability import (
    Flow,
    between,
    diagonal_boundary,
    diagonal_eigenvalue,
    leading,
    newton,
    only_diagonal,
    seen,
    spike,
    tangent_basis,
    velocity,
    within,
)
from clusterlens.particles.starts import STARTS
from clusterlens.simulated.item import find
from clusterlens.verify.labels import unlisted

pytestmark = pytest.mark.usefixtures("one_thread")
GRID = [(tau, threshold) for tau in (1, 2.2, 3, 4, 6, 9, 14, 20) for threshold in (0.25, 0.4, 0.5, 0.75, 1, 1.5)]


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def near_axes(count: int) -> np.ndarray:
    return unit(np.eye(3)[:count] + 0.05)


def resting(beta: float, tau: float, threshold: float, sizes: tuple[int, ...]) -> tuple[np.ndarray, Flow]:
    """Clusters of the given sizes at rest near the axes."""
    flow = Flow(beta=beta, tau=tau, threshold=threshold, shares=np.array(sizes) / sum(sizes))
    y = newton(near_axes(len(sizes)), flow, steps=30)
    assert np.abs(velocity(y, flow)).max() < 1e-12
    return y, flow


@pytest.fixture
def run(monkeypatch):
    """Simulate from given tokens."""

    def go(x: np.ndarray, *, beta: float, tau: float, threshold: float, time: float, step: float = 0.1) -> np.ndarray:
        monkeypatch.setitem(STARTS, "placed", lambda rng, n, d: x)
        settings = Settings(
            field="ssa_soft",
            integrator="rk4",
            tokens=len(x),
            beta=beta,
            steepness=tau,
            threshold=threshold,
            time=time,
            step=step,
            start="placed",
        )
        return simulate(settings).positions[:, 0].numpy()  # (T, n, d)

    return go


def rate(distance: np.ndarray, step: float) -> float:
    """Slope of the logarithm of a distance over the second half of a run."""
    late = np.log(distance[len(distance) // 2 :])
    return np.polyfit(step * np.arange(len(late)), late, 1)[0]


# Closed forms


@pytest.mark.parametrize(("tau", "expected"), [(1, -0.4465), (2, -0.1000), (4, 0.2561)])
def test_the_diagonal_at_the_papers_three_steepnesses(tau, expected):
    assert diagonal_eigenvalue(tau=tau, threshold=1.0) == pytest.approx(expected, abs=5e-5)
    flow = Flow(beta=3.0, tau=tau, threshold=1.0, shares=np.ones(1))
    y = np.full((1, 3), 3**-0.5)
    np.testing.assert_allclose(between(y, flow), expected * np.eye(2), atol=5e-5)


def test_the_boundary_is_where_the_diagonal_changes_stability():
    tau = np.linspace(1.8, 20, 50)
    boundary = diagonal_boundary(tau)
    np.testing.assert_allclose(diagonal_eigenvalue(tau=tau, threshold=boundary), 0, atol=1e-12)
    assert (diagonal_eigenvalue(tau=tau, threshold=boundary - 0.05) < 0).all()
    assert (diagonal_eigenvalue(tau=tau, threshold=boundary + 0.05) > 0).all()
    assert (
        np.isinf(diagonal_boundary(1.7)) and (diagonal_eigenvalue(tau=1.7, threshold=np.linspace(-5, 5, 99)) < 0).all()
    )


@pytest.mark.parametrize("beta", [0.0, 1.0, 9.0])
def test_one_cluster_holds_together_at_the_rate_lambda_whatever_beta(beta):
    y, flow = resting(beta, 4.0, 1.0, (1,))
    np.testing.assert_allclose(within(y, flow)[0], -seen(y, flow).pull * np.eye(2), atol=1e-14)


# Finite differences of the field that is simulated


def simulated_jacobian(x: np.ndarray, flow: Flow, *, h: float = 1e-6) -> np.ndarray:
    """Central differences of the projected ssa_soft field of all tokens, in tangent coordinates, (2n, 2n)."""
    settings = Settings(field="ssa_soft", tokens=len(x), beta=flow.beta, steepness=flow.tau, threshold=flow.threshold)
    system = system_of(settings, dtype=torch.float64, device=torch.device("cpu"))
    field = projected(lambda t, tokens: VELOCITIES["ssa_soft"](t, tokens, system))
    basis = tangent_basis(x)
    columns = []
    for token in range(len(x)):
        for direction in basis[token].T:
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[token] = unit(x[token] + sign * h * direction)
                ends.append(field(0.0, torch.as_tensor(moved)[None])[0].numpy())
            columns.append(np.einsum("ndt,nd->nt", basis, (ends[0] - ends[1]) / (2 * h)).reshape(-1))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize(
    ("beta", "tau", "threshold", "sizes"),
    [
        (1.0, 2.0, 1.0, (64,)),
        (5.0, 4.0, 1.0, (64,)),
        (3.0, 4.0, 1.0, (32, 32)),
        (5.0, 4.0, 1.0, (20, 44)),
        (4.0, 4.0, 1.0, (24, 20, 20)),
        (6.0, 8.0, 0.5, (10, 20, 34)),
    ],
    ids=str,
)
def test_between_and_within_are_the_whole_spectrum_of_64_tokens(beta, tau, threshold, sizes):
    y, flow = resting(beta, tau, threshold, sizes)
    full = np.linalg.eigvals(simulated_jacobian(np.repeat(y, sizes, axis=0), flow))
    split = [np.linalg.eigvals(between(y, flow))]
    for size, block in zip(sizes, within(y, flow), strict=True):
        split += [np.linalg.eigvals(block)] * (size - 1)
    np.testing.assert_allclose(np.sort(full.real), np.sort(np.concatenate(split).real), atol=2e-5)


def test_a_batch_equals_its_states():
    y = unit(np.random.default_rng(0).uniform(0.1, 1, (4, 3, 3)))
    beta, tau, threshold = np.array([[1, 2, 3, 5], [1, 2, 4, 8], [0.5, 1, 1, 0.7]], dtype=float)
    together = Flow(beta=beta, tau=tau, threshold=threshold, shares=np.array([0.2, 0.3, 0.5]))
    for index in range(4):
        alone = Flow(beta=beta[index], tau=tau[index], threshold=threshold[index], shares=together.shares)
        for quantity in (velocity, between, within):
            np.testing.assert_allclose(quantity(y, together)[index], quantity(y[index], alone), atol=1e-15)


def test_eigenvalues_do_not_depend_on_the_order_of_coordinates_or_clusters():
    rng = np.random.default_rng(1)
    y, mixed = unit(rng.uniform(0.1, 1, (3, 3))), np.array([2, 0, 1])
    flow = Flow(beta=3.0, tau=4.0, threshold=0.8, shares=np.array([0.2, 0.3, 0.5]))
    turned = Flow(beta=3.0, tau=4.0, threshold=0.8, shares=flow.shares[mixed])
    expected = np.sort_complex(np.linalg.eigvals(between(y, flow)))
    for coordinates in permutations(range(3)):
        other = y[mixed][:, coordinates]
        np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(between(other, turned))), expected, atol=1e-12)
        np.testing.assert_allclose(leading(within(other, turned)), leading(within(y, flow))[mixed], atol=1e-12)


# Growth in simulations


@pytest.mark.parametrize("beta", [0.5, 5.0])
@pytest.mark.parametrize("tau", [1.0, 2.0, 4.0])
def test_a_joint_displacement_from_the_diagonal_grows_as_predicted(run, tau, beta):
    shift = 1e-7 * np.array([1.0, -1.0, 0.0])
    path = run(unit(np.full((16, 3), 3**-0.5) + shift), beta=beta, tau=tau, threshold=1.0, time=10)
    moved = np.linalg.norm(path[:, 0] - 3**-0.5, axis=-1)
    assert rate(moved, 0.1) == pytest.approx(diagonal_eigenvalue(tau=tau, threshold=1.0), abs=1e-3)


@pytest.mark.parametrize("beta", [0.5, 5.0])
def test_a_token_returns_to_its_cluster_as_predicted(run, beta):
    y, flow = resting(beta, 4.0, 1.0, (16,))
    x = np.repeat(y, 16, axis=0)
    x[0] = unit(x[0] + 1e-4 * np.array([1.0, -1.0, 0.0]))
    path = run(x, beta=beta, tau=4.0, threshold=1.0, time=10)
    assert rate(np.linalg.norm(path[:, 0] - path[:, 1], axis=-1), 0.1) == pytest.approx(
        leading(within(y, flow))[0], abs=1e-3
    )


def test_two_clusters_return_as_their_slowest_displacement_does(run):
    y, flow = resting(3.0, 4.0, 1.0, (20, 12))
    if leading(between(y, flow)) > 0 or closest(y) > 0.9:
        pytest.fail("the start is not a stable state with two clusters")
    moved = unit(y + 1e-5 * np.random.default_rng(0).standard_normal(y.shape))
    path = run(np.repeat(moved, [20, 12], axis=0), beta=3.0, tau=4.0, threshold=1.0, time=60)
    distance = np.linalg.norm(path[:, [0, -1]] - y, axis=(-1, -2))
    assert rate(distance, 0.1) == pytest.approx(leading(between(y, flow)), abs=2e-3)


def test_two_clusters_stay_where_they_are_for_a_long_time_above_their_lowest_beta(run):
    y, _ = resting(3.0, 4.0, 1.0, (32, 32))
    x = unit(np.repeat(y, 32, axis=0) + 0.02 * np.random.default_rng(0).standard_normal((64, 3)))
    end = run(x, beta=3.0, tau=4.0, threshold=1.0, time=300)[-1]
    np.testing.assert_allclose(end, np.repeat(y, 32, axis=0), atol=1e-6)
    below = run(x, beta=2.0, tau=4.0, threshold=1.0, time=300)[-1]
    assert order.count(order.direction_labels(below)) == 1


@pytest.mark.parametrize("beta", [0.5, 2.0, 9.0, 30.0])
@pytest.mark.parametrize(("tau", "threshold"), [(1, 1), (2, 1), (4, 0.5), (8, 0.25), (3, -1)])
def test_the_largest_ratio_of_components_falls_where_only_the_diagonal_rests(run, tau, threshold, beta):
    assert only_diagonal(tau=tau, threshold=threshold)
    x = unit(np.random.default_rng(2).uniform(0.02, 1, (32, 3)) ** 2)
    path = run(x, beta=beta, tau=float(tau), threshold=float(threshold), time=20, step=0.05)
    ratio = (path.max(-1) / path.min(-1)).max(-1)
    assert (np.diff(ratio) < 1e-12).all()


def test_the_largest_ratio_may_grow_where_other_states_exist(run):
    assert not only_diagonal(tau=4, threshold=1)
    path = run(unit(np.array([[1.0, 1.0, 1.2]] * 8)), beta=1.0, tau=4.0, threshold=1.0, time=20)
    ratio = (path.max(-1) / path.min(-1)).max(-1)
    assert ratio[-1] > 10 * ratio[0]


# States of one cluster


def searched(tau: float, threshold: float) -> np.ndarray:
    """Roots of sigma(x) = lambda x, |x| = 1 with positive x from many starts, sorted components, each once."""
    rng = np.random.default_rng(0)

    def equations(unknown):
        x, pull = unknown[:3], unknown[3]
        return np.append(spike(x, tau=tau, threshold=threshold) - pull * x, x @ x - 1)

    found = []
    for _ in range(250):
        x = unit(rng.uniform(0, 1, 3) ** rng.uniform(0.3, 5))
        answer = root(equations, np.append(x, spike(x, tau=tau, threshold=threshold) @ x), tol=1e-13)
        if np.abs(answer.fun).max() < 1e-11 and (answer.x[:3] > 0).all():
            found.append(np.sort(answer.x[:3]))
    return np.unique(np.round(found, 6), axis=0)


@pytest.mark.parametrize(("tau", "threshold"), [(2, 1), (2.5, 1), (4, 1), (2, 1.5), (4.5, 0.5), (6, 0.5), (20, 0.25)])
def test_the_states_of_one_cluster_are_those_that_a_search_finds(tau, threshold):
    ours = one_cluster(np.array([tau]), np.array([threshold]))[["x1", "x2", "x3"]].to_numpy()
    reference = searched(tau, threshold)
    apart = np.abs(ours[:, None] - reference[None]).max(-1)
    assert len(ours) == len(reference)
    assert apart.min(0).max() < 1e-5 and apart.min(1).max() < 1e-5


def test_no_state_of_one_cluster_is_missing():
    """On the sphere maxima, saddles and minima count 1, -1 and 1 and sum to 2 (Poincaré-Hopf).

    The minimum at (-1, -1, -1)/√3 counts 1, so the states with positive components sum to 1.
    """
    states = one_cluster(*np.array(GRID).T)
    flow = Flow(
        beta=np.ones(len(states)),
        tau=states["tau"].to_numpy(),
        threshold=states["threshold"].to_numpy(),
        shares=np.ones(1),
    )
    sign = np.sign(np.linalg.det(between(states[["x1", "x2", "x3"]].to_numpy()[:, None], flow)))
    total = (sign * states["copies"]).groupby([states["tau"], states["threshold"]]).sum()
    assert len(total) == len(GRID) and (total == 1).all()
    assert states["copies"].max() == 6 and states["kind"].nunique() == 4


@pytest.mark.parametrize("threshold", [0.3, 0.5, 1.0, 1.5])
def test_no_ratio_turns_up_to_tau_times_threshold_two_and_one_does_above(threshold):
    u = np.linspace(1e-3, 12, 20_000)
    for product, turns in ((1.99, False), (2.0, False), (2.01, True)):
        tau = product / threshold
        ratio = spike(u, tau=tau, threshold=threshold) / u
        assert (np.diff(ratio) > 0).any() == turns
        assert only_diagonal(tau=tau, threshold=threshold) != turns


# States of several clusters


def relaxed(y: np.ndarray, flow: Flow, *, steps: int = 3000) -> np.ndarray:
    """The reduced flow, with every cluster's time in units of its own drive."""
    for _ in range(steps):
        drive = seen(y, flow).drive
        y = unit(y + 0.4 * (unit(drive) - y))
    return y


@pytest.mark.parametrize("kinds", [("axis",), ("axis", "edge"), ("diagonal", "axis", "edge"), ("general", "axis")])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("alike", [True, False])
def test_arrangements_are_as_many_as_burnside_counts(kinds, count, alike):
    """The number of orbits is the mean number of ways that a permutation of the coordinates leaves as they are."""
    places = {(index, ranks) for index, kind in enumerate(kinds) for ranks in permutations(RANKS[kind])}
    ways = combinations(sorted(places), count) if alike else permutations(sorted(places), count)
    fixed = 0
    for way in ways:
        for turn in permutations(range(3)):
            turned = tuple((index, tuple(ranks[p] for p in turn)) for index, ranks in way)
            fixed += set(turned) == set(way) if alike else turned == way
    assert len(arrangements(kinds, count, alike)) == fixed / 6


def test_without_attention_clusters_do_not_stay_apart():
    """At beta 0 all tokens have the same drive, so that only one direction rests."""
    y, flow = near_axes(3), Flow(beta=0.0, tau=8.0, threshold=1.0, shares=np.full(3, 1 / 3))
    assert closest(relaxed(y, flow)) > 1 - 1e-9


@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (1, 1, 1)])
def test_a_state_ends_at_its_lowest_beta(sizes):
    single = one_cluster(np.array([4.0]), np.array([1.0]))
    given = np.array(sizes) / sum(sizes)
    (lowest,) = several_clusters(single, betas=[9.0], shares=given)["lowest_beta"]
    for factor, apart in ((1.01, True), (0.99, False)):
        flow = Flow(beta=factor * lowest, tau=4.0, threshold=1.0, shares=given)
        start = resting(1.05 * lowest, 4.0, 1.0, sizes)[0]
        assert (closest(relaxed(start, flow)) < 0.9) == apart


def test_lowest_betas_of_the_papers_steepest_setting():
    single = one_cluster(np.array([4.0]), np.array([1.0]))
    lowest = [
        several_clusters(single, betas=[9.0], shares=given)["lowest_beta"].item()
        for given in ((0.5, 0.5), (0.25, 0.75), (1 / 3, 1 / 3, 1 / 3))
    ]
    np.testing.assert_allclose(lowest, [2.351, 3.514, 2.807], atol=5e-3)


@pytest.mark.parametrize(
    ("beta", "tau", "threshold"), [(3.2, 4.0, 1.0), (9.0, 6.0, 0.5), (2.0, 4.0, 1.0), (9.0, 2.0, 1.0)]
)
def test_random_starts_find_no_stable_state_that_is_not_listed(beta, tau, threshold):
    single = one_cluster(np.array([tau]), np.array([threshold]))
    rng = np.random.default_rng(3)
    for count in (2, 3):
        given = np.full(count, 1 / count)
        listed = several_clusters(single, betas=[beta], shares=given)[["cosine", "closest"]].to_numpy()
        numbers = {"beta": np.full(120, beta), "tau": np.full(120, tau), "threshold": np.full(120, threshold)}
        flow = Flow(**numbers, shares=given)
        y = newton(relaxed(unit(rng.standard_normal((120, count, 3)) ** 3), flow, steps=1500), flow)
        y = y[holds(y, flow)]
        found = np.stack([(y.sum(-1) / np.sqrt(3)).mean(-1), closest(y)], axis=-1)
        apart = np.abs(found[:, None] - listed[None]).max(-1) if len(listed) else np.full((len(found), 1), np.inf)
        assert (apart.min(1) < 1e-4).all()
        assert len(found) > 0 or len(listed) == 0


# The map, the ends of simulations, the figure


@pytest.fixture(scope="module")
def the_map():
    return stability_map(betas=[0.5, 1, 2, 3, 5], taus=[1, 2, 4, 6], thresholds=[0.5, 1])


@pytest.fixture(scope="module")
def runs(one_thread):
    block = {"field": "ssa_soft", "beta": [1.0, 3.0], "steepness": [2.0, 4.0], "seeds": [0, 1, 2], "time": 60.0}
    block |= {"every": 150, "snapshots": [60], "measures": ["clusters", "cosine_to_diagonal", "settled"]}
    return record(block | {"sweep": {"threshold": [0.5, 1.0]}}, dtype="float64", device=torch.device("cpu"))


@pytest.fixture(scope="module")
def ends(runs):
    return outcomes(runs)


def test_the_map_has_every_cell_once_and_the_papers_cells_as_known(the_map):
    table = the_map[0]
    assert len(table) == 5 * 4 * 2 and not table.duplicated(["beta", "tau", "threshold"]).any()
    assert not table.isna().any().any()
    paper = table[table["beta"].isin([0.5, 1, 2]) & table["tau"].isin([1, 2, 4])]
    assert len(paper) == 18 and (paper["one"] == 1).all() and (paper[["two", "three"]] == 0).all().all()
    unstable = paper[paper["diagonal"] == "unstable"]
    assert set(zip(unstable["tau"], unstable["threshold"], strict=True)) == {(4, 1)}
    assert (unstable["axis"] == "stable").all()
    np.testing.assert_allclose(unstable["firmest_cosine"], 0.6255, atol=1e-4)
    at_three = table.set_index(["beta", "tau", "threshold"]).loc[(3, 4, 1)]
    assert at_three["two"] == 1 and at_three["three"] == 1


def test_states_of_several_clusters_only_grow_in_number_with_beta(the_map):
    table, _, several = the_map
    for _, group in table.sort_values("beta").groupby(["tau", "threshold"]):
        assert (group[["two", "three"]].diff().dropna() >= 0).all().all()
    assert (several["lowest_beta"] <= several["beta"]).all()
    assert (several[["between", "within"]] < 0).all().all()


def test_simulations_end_where_the_map_says(ends):
    late = ends.set_index(["beta", "tau", "threshold"]).sort_index()
    for cell in ((1, 2, 0.5), (1, 2, 1), (3, 2, 1), (1, 4, 0.5)):
        assert (late.loc[cell, "place"] == "diagonal").all(), cell
    assert (late.loc[(1, 4, 1), "place"] == "axis").all()
    assert (late.loc[(1, 4, 1), "settled"] > 0.999).all()


def test_nothing_has_settled_while_tokens_move(runs):
    run = next(run for run in runs if run.settings["threshold"] == 1)
    early, chosen = run.at(15), run.chosen(beta=1, steepness=4)
    assert (run.order["clusters"][early, chosen] > 10).all() and (run.order["settled"][early, chosen] < 0.9).all()


def test_shares_of_seeds(ends):
    found = shares(ends)
    np.testing.assert_allclose(found[["one", "two", "three", "more", "moving"]].sum(axis=1), 1)
    assert (found["seeds"] == 3).all() and len(found) == 2 * 2 * 2
    made = pd.DataFrame({"beta": 1, "tau": 1, "threshold": 1, "time": 1}, index=range(4)).assign(
        clusters=[1, 2, 9, 1], settled=[1.0, 1.0, 0.1, 0.2], place=["axis", "apart", "apart", "elsewhere"], cosine=0.5
    )
    (row,) = shares(made).to_dict("records")
    assert (row["one"], row["two"], row["more"], row["moving"], row["axis"]) == (0.25, 0.25, 0, 0.5, 0.25)


def test_the_figure_fits_the_page_and_can_be_read(runs):
    figure = fig1_stability(runs)
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == pytest.approx(6.9)
    texts = [text for text in figure.findobj(lambda thing: hasattr(thing, "get_fontsize")) if text.get_text()]
    assert texts and min(text.get_fontsize() for text in texts) >= 6


def test_numbers_name_each_cell_once(runs):
    rows = tidy(find("spiking", "fig1_stability").numbers(runs))
    assert not rows.duplicated(["row", "column"]).any() and not unlisted("spiking", "fig1_stability", rows)
    value = rows.set_index(["row", "column"])["value"]
    assert value["tau=4 threshold=1", "eigenvalue at diagonal"] == pytest.approx(0.2561, abs=1e-4)
    assert value["tau=4 threshold=1", "lowest beta of two clusters"] == pytest.approx(2.351, abs=5e-3)
    assert value["beta=1 tau=4 threshold=1 t=60", "near an axis"] == 1
    assert value["beta=1 tau=4 threshold=1", "stable states of several clusters"] == 0
    assert value["beta=3 tau=4 threshold=1", "stable states of several clusters"] == 2
