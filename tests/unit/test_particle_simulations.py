"""Integrators of their declared order, batches that equal their systems, and refusals in one line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from clusterlens.errors import UserError
from clusterlens.particles.fields import VELOCITIES
from clusterlens.particles.integrators import INTEGRATORS
from clusterlens.particles.matrices import MATRICES, build
from clusterlens.particles.record import MEASURES, record
from clusterlens.particles.runs import load, save
from clusterlens.particles.settings import FIELDS, Settings, settings_from, simulations
from clusterlens.particles.simulate import simulate
from clusterlens.particles.starts import STARTS

CONFIG = yaml.safe_load((Path(__file__).resolve().parents[2] / "config" / "config.yaml").read_text())["simulations"]
pytestmark = pytest.mark.usefixtures("one_thread")
BLOCKS = [(paper, item) for paper in ("spiking", "transformers", "emergence") for item in CONFIG[paper]]


@pytest.mark.parametrize(
    ("field", "start"), [("causal", "sphere"), ("attention", "sphere"), ("free", "cube"), ("rescaled", "cube")]
)
@pytest.mark.parametrize(("integrator", "declared"), [("euler", 1), ("rk4", 4)])
def test_measured_order_is_the_declared_order(integrator, declared, field, start):
    settings = Settings(field=field, tokens=8, time=1.0, beta=2.0, start=start, value={"kind": "symmetric"}, seeds=(3,))
    truth = simulate(replace(settings, integrator="rk4", step=0.004)).positions[-1]
    steps = np.array([0.1, 0.05, 0.025]) * (2 if declared == 4 else 1)
    errors = [
        (simulate(replace(settings, integrator=integrator, step=h)).positions[-1] - truth).abs().max() for h in steps
    ]
    measured = np.polyfit(np.log(steps), np.log(np.array(errors)), 1)[0]
    assert measured == pytest.approx(declared, abs=0.25)


def test_adaptive_steps_agree_with_very_fine_ones():
    settings = Settings(field="causal", tokens=10, time=2.0, beta=5.0, seeds=(0, 1))
    coarse = simulate(replace(settings, integrator="adaptive", step=1.0)).positions[-1]
    fine = simulate(replace(settings, integrator="rk4", step=0.005)).positions[-1]
    torch.testing.assert_close(coarse, fine, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(tokens=64, time=2.0, seeds=tuple(range(6))),
        Settings(field="causal", tokens=32, time=2.0, beta=9.0, seeds=tuple(range(6))),
        Settings(field="attention", tokens=140, time=0.5, seeds=(0, 1, 2)),
        Settings(field="unnormalised", tokens=20, time=0.5, seeds=(0, 1, 2)),
    ],
    ids=lambda settings: f"{settings.field}{settings.tokens}",
)
def test_a_batch_equals_its_systems_bit_for_bit(settings):
    together = simulate(settings).positions
    apart = torch.cat([simulate(replace(settings, seeds=(seed,))).positions for seed in settings.seeds], dim=1)
    assert torch.equal(together, apart)


@pytest.mark.parametrize(
    "changes",
    [
        {"field": "causal", "tokens": 33, "query": "gaussian", "key": "gaussian", "beta": 9.0},
        {"field": "ssa_soft", "tokens": 20},
        {"field": "free", "tokens": 30, "heads": 4, "start": "cube", "query": "gaussian", "value": "gaussian"},
    ],
    ids=lambda changes: changes["field"],
)
def test_a_batch_equals_its_systems_to_rounding_where_the_kernels_split_work_by_size(changes):
    settings = Settings(time=2.0, seeds=(0, 1, 2), **changes)
    together = simulate(settings).positions
    apart = torch.cat([simulate(replace(settings, seeds=(seed,))).positions for seed in settings.seeds], dim=1)
    torch.testing.assert_close(together, apart, rtol=1e-10, atol=1e-12)


def test_lists_of_beta_and_steepness_run_side_by_side():
    settings = Settings(field="ssa_soft", tokens=9, time=1.0, beta=(0.5, 2.0), steepness=(1.0, 4.0), seeds=(0, 1))
    together = simulate(settings)
    assert len(settings.systems) == 8 and together.positions.shape[1] == 8
    for index, (beta, steepness, seed) in enumerate(settings.systems):
        alone = simulate(replace(settings, beta=beta, steepness=steepness, seeds=(seed,))).positions[:, 0]
        torch.testing.assert_close(together.positions[:, index], alone, rtol=1e-12, atol=1e-13)


def test_the_same_seed_gives_the_same_run_and_another_another():
    first, again = (simulate(Settings(time=1.0, seeds=(5,))).positions for _ in range(2))
    other = simulate(Settings(time=1.0, seeds=(6,))).positions
    assert torch.equal(first, again) and not torch.allclose(first, other)


def test_kept_times_include_start_and_end():
    run = simulate(Settings(tokens=4, time=1.0), every=3)
    np.testing.assert_allclose(run.times, [0, 0.3, 0.6, 0.9, 1.0])
    whole = simulate(Settings(tokens=4, time=1.0))
    assert torch.equal(run.positions, whole.positions[[0, 3, 6, 9, 10]])


def test_single_precision_stays_close():
    double, single = (simulate(Settings(tokens=20, time=3.0), dtype=name).positions for name in ("float64", "float32"))
    assert single.dtype == torch.float32
    torch.testing.assert_close(double, single.double(), rtol=0, atol=1e-4)


def test_a_single_token_follows_its_value_matrix_alone():
    run = simulate(
        Settings(field="causal", tokens=1, time=50.0, value={"kind": "diagonal", "entries": [1.0, 0.2, -1.0]})
    )
    assert abs(run.positions[-1, 0, 0, 0]) > 1 - 1e-9


def test_one_dimension_leaves_nothing_to_move_on_the_sphere():
    run = simulate(Settings(tokens=5, dimension=1, time=1.0))
    assert torch.equal(run.positions[0], run.positions[-1])
    assert run.positions.abs().allclose(torch.ones(()).double())


@pytest.mark.parametrize("field", ["attention", "causal", "free", "rescaled", "unnormalised"])
def test_no_value_no_motion(field):
    run = simulate(Settings(field=field, tokens=5, time=1.0, value="zero"))
    torch.testing.assert_close(run.positions[0], run.positions[-1], rtol=0, atol=1e-15)


def test_a_huge_beta_is_a_hard_maximum_not_an_overflow():
    run = simulate(Settings(tokens=16, beta=1e4, time=2.0))
    assert torch.isfinite(run.positions).all()
    torch.testing.assert_close(run.positions[0], run.positions[-1], rtol=0, atol=1e-6)  # each token attends to itself


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"field": "atention"}, "unknown field 'atention': did you mean 'attention'?"),
        ({"integrator": "rk5"}, "unknown integrator 'rk5': did you mean 'rk4'?"),
        ({"start": "torus"}, "unknown start 'torus'"),
        ({"value": "gausian"}, "unknown matrix 'gausian': did you mean 'gaussian'?"),
        ({"value": {"kind": "diagonal", "entries": [1, 2]}}, "matrix entries have shape (2,)"),
        ({"value": {"kind": "given", "entries": [["a"]]}}, "are not numbers"),
        ({"tokens": 0}, "tokens is 0"),
        ({"dimension": -1}, "dimension is -1"),
        ({"heads": 0}, "heads is 0"),
        ({"step": 0.0}, "the step has to be positive"),
        ({"time": -1.0}, "the time not negative"),
        ({"beta": float("nan")}, "beta is nan"),
        ({"beta": (1.0, float("inf"))}, "finite"),
        ({"seeds": ()}, "seeds is empty"),
        ({"field": "ssa_hard"}, "use 'map'"),
        ({"integrator": "map"}, "use 'euler'"),
        ({"field": "rescaled", "heads": 2}, "takes one head"),
        ({"start": "circle", "dimension": 1}, "needs dimension 2"),
        ({"field": "unnormalised", "beta": 1e4, "tokens": 4}, "overflows torch.float64 by t = 0.1"),
        ({"field": "free", "start_scale": 1e200, "tokens": 4}, "lower beta, start_scale or time"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_line(changes, words):
    with pytest.raises(UserError) as refusal:
        simulate(Settings(**({"time": 1.0} | changes)))
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


def test_an_unknown_precision_is_refused():
    with pytest.raises(UserError, match="unknown dtype 'float16'"):
        simulate(Settings(), dtype="float16")


def test_the_schema_offers_what_the_code_knows():
    schema = yaml.safe_load(
        (Path(__file__).resolve().parents[2] / "workflow" / "schemas" / "simulations.schema.yaml").read_text()
    )
    settings, item = (schema["$defs"][name]["properties"] for name in ("changes", "item"))
    assert set(settings) == set(Settings.__dataclass_fields__)
    assert set(settings["field"]["enum"]) == set(FIELDS) == set(VELOCITIES)
    assert set(settings["integrator"]["enum"]) == set(INTEGRATORS)
    assert set(settings["start"]["enum"]) == set(STARTS)
    assert set(schema["$defs"]["matrix"]["properties"]["kind"]["enum"]) == set(MATRICES)
    assert set(item["measures"]["items"]["enum"]) == set(MEASURES)


@pytest.mark.parametrize(("paper", "item"), BLOCKS)
def test_every_configured_item_describes_valid_runs(paper, item):
    block = CONFIG[paper][item]
    described = list(simulations(block))
    assert described and len({label for label, _ in described}) == len(described)
    assert all(len(settings.seeds) >= 5 for _, settings in described)


def test_variants_and_sweeps_multiply():
    block = {"time": 1.0, "variants": {"a": {"beta": 2.0}, "b": {}}, "sweep": {"tokens": [3, 4]}, "seeds": [0]}
    described = dict(simulations(block))
    assert list(described) == ["a tokens=3", "a tokens=4", "b tokens=3", "b tokens=4"]
    assert described["a tokens=4"] == settings_from({"time": 1.0, "beta": 2.0, "tokens": 4, "seeds": [0]})
    with pytest.raises(UserError, match="sweep one"):
        list(simulations({"sweep": {"tokens": [3], "heads": [1]}, "seeds": [0]}))


def test_a_record_holds_every_measure_for_every_time_and_system_also_on_disk(tmp_path):
    block = {
        "tokens": 6,
        "dimension": 2,
        "time": 1.0,
        "seeds": [0, 1, 2],
        "snapshots": [0, 1],
        "sweep": {"beta": [1, 2]},
    }
    made = record(block | {"measures": list(MEASURES)}, dtype="float64", device=torch.device("cpu"))
    save(tmp_path / "runs.npz", made)
    for before, run in zip(made, load(tmp_path / "runs.npz"), strict=True):
        assert list(run.order) == list(MEASURES)
        assert all(run.order[name].shape == (11, 3) for name in MEASURES)
        assert run.path.shape == (11, 6, 2) and run.attention.shape == (2, 6, 6) and run.final.shape == (3, 6, 2)
        assert (run.label, run.swept[0], run.snapshots) == (before.label, "beta", [0, 1])
        assert run.chosen(beta=float(run.swept[1])).all() and run.systems[:, 2].tolist() == [0, 1, 2]
        for part in ("times", "path", "final", "value", "attention"):
            np.testing.assert_array_equal(getattr(run, part), getattr(before, part))


def test_what_was_not_kept_is_none_after_loading(tmp_path):
    block = {"tokens": 3, "time": 1.0, "seeds": [0], "snapshots": [1], "measures": ["clusters"]}
    save(tmp_path / "runs.npz", record(block, dtype="float64", device=torch.device("cpu")))
    (run,) = load(tmp_path / "runs.npz")
    assert run.attention is None and run.label == ""


def test_a_snapshot_between_steps_is_refused():
    block = {"tokens": 3, "time": 1.0, "seeds": [0], "snapshots": [0.25], "measures": ["clusters"]}
    with pytest.raises(UserError, match=r"snapshot 0.25 is not a kept time: the nearest is 0\.[23]"):
        record(block, dtype="float64", device=torch.device("cpu"))


def test_matrices_have_the_properties_they_promise():
    rng = np.random.default_rng(0)
    for kind, holds in {
        "symmetric": lambda m: np.allclose(m, m.T),
        "semidefinite": lambda m: np.linalg.eigvalsh(m).min() > -1e-12,
        "positive": lambda m: m.min() >= 0,
        "zero": lambda m: not m.any(),
    }.items():
        assert all(holds(matrix) for matrix in build(kind, rng, heads=3, d=4)), kind
    np.testing.assert_array_equal(build({"kind": "identity", "scale": -1}, rng, heads=1, d=2)[0], -np.eye(2))
    first, second = build("gaussian", rng, heads=2, d=3)
    assert not np.allclose(first, second)


def test_starts_lie_where_they_say():
    rng = np.random.default_rng(0)
    assert np.allclose(np.linalg.norm(STARTS["sphere"](rng, 50, 4), axis=1), 1)
    assert np.abs(STARTS["cube"](rng, 500, 2)).max() <= 1
    assert np.linalg.norm(STARTS["ball"](rng, 500, 3), axis=1).max() <= 1
    circle = STARTS["circle"](rng, 50, 3)
    assert np.allclose(np.linalg.norm(circle[:, :2], axis=1), 1) and not circle[:, 2].any()
