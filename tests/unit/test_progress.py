"""How long a run takes and how much is left: the sums, what the screen says, and the remembered pace."""

import copy
import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from clusterlens import pace
from clusterlens.files import write_json, write_text
from clusterlens.logs import duration
from clusterlens.progress import Progress, kind, of_run, read_seconds
from clusterlens.screen import Screen
from reference.configs import CONFIG

EXPECTED = {"train_model vit": 600.0, "plot_particles emergence mixed": 5.0}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def run(tmp_path):
    """Three runs of ten minutes, a drawing and a job that is not known, on two cores."""
    progress = Progress(EXPECTED, tmp_path / "logs" / "seconds.csv", cores=2, clock=Clock())
    jobs = dict.fromkeys((1, 2, 3), ("train_model vit", 1))
    progress.plan(jobs | {4: ("plot_particles emergence mixed", 1), 5: ("all", 1)})
    return progress


@pytest.mark.parametrize(
    ("rule", "wildcards", "name"),
    [
        ("train_model", {"run": "vit", "seed": "3"}, "train_model vit"),
        ("pretrain_longformer", {"job": "sdp_w128_seed14"}, "pretrain_longformer sdp_w128"),
        ("finetune_longformer", {"job": "seed2"}, "finetune_longformer"),
        ("plot_particles", {"paper": "emergence", "item": "mixed"}, "plot_particles emergence mixed"),
        ("all", {}, "all"),
    ],
)
def test_jobs_that_differ_in_their_seed_are_of_one_kind(rule, wildcards, name):
    assert kind(rule, wildcards) == name


@pytest.mark.parametrize(
    ("seconds", "text"), [(119, "119 s"), (119 * 60, "119 min"), (125 * 60, "2 h 05 min"), (72 * 3600, "3 days")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_what_is_left_is_shared_by_the_cores_and_shrinks_while_jobs_run(run):
    assert run.left() == f"about {duration((3 * 600 + 5) / 2)}"
    run.start(1)
    run.clock.now = 300
    assert run.left() == f"about {duration((2 * 600 + 5 + 300) / 2)}"
    run.clock.now = 6000  # far beyond what was expected: nothing below zero
    assert run.left() == f"about {duration((2 * 600 + 5) / 2)}"


def test_finished_jobs_correct_the_measurement(run):
    run.start(1)
    run.clock.now = 1200  # twice as long as in the published run
    run.finish(1)
    slowness = (1200 + 300) / (600 + 300)
    assert run.left() == f"about {duration(slowness * (2 * 600 + 5) / 2)}"


def test_a_job_on_both_cores_counts_twice_the_time_that_it_runs(run):
    run.plan(dict.fromkeys((1, 2), ("train_model vit", 2)))
    run.start(1)
    run.clock.now = 100
    assert run.left() == f"about {duration((600 - 2 * 100 + 600) / 2)}"
    run.clock.now = 300
    run.finish(1)
    assert run.left() == f"about {duration(600 / 2)}" and read_seconds(run.record) == {"train_model vit": 600}


def test_a_record_that_cannot_be_written_stops_no_run(run):
    run.record.parent.write_text("a file where the folder should be")
    run.start(1)
    run.clock.now = 600
    run.finish(1)
    assert run.left() == f"about {duration((2 * 600 + 5) / 2)}"


def test_a_job_that_nobody_started_or_that_is_not_known_changes_nothing(run):
    before = run.left()
    run.finish(17)
    run.start(5)
    run.clock.now = 1e6
    run.finish(5)
    assert run.left() == before


def test_nothing_is_said_of_jobs_that_are_not_known(tmp_path):
    progress = Progress({}, tmp_path / "seconds.csv", cores=2)
    progress.plan({1: ("train_model vit", 1)})
    assert progress.left() == ""


def test_the_seconds_of_finished_jobs_are_kept_over_several_starts(run, tmp_path):
    for job, end in ((1, 100), (2, 250)):
        run.start(job)
        run.clock.now = end
        run.finish(job)
    assert read_seconds(run.record) == {"train_model vit": (100 + 150) / 2}
    again = Progress(EXPECTED, run.record, cores=2, clock=Clock())
    again.plan({9: ("train_model vit", 1)})
    again.start(9)
    again.clock.now = 350
    again.finish(9)
    assert read_seconds(run.record) == {"train_model vit": 150}


def said(screen: Screen, **facts) -> logging.LogRecord:
    record = logging.makeLogRecord({"msg": "Job stats", "input": [], "output": [], "reason": "", **facts})
    assert screen.filter(record)
    return record


def test_the_screen_says_it_at_the_start_and_after_each_job(run):
    screen = Screen([], run, lambda: dict.fromkeys((1, 2), ("train_model vit", 1)))
    start = said(screen, event=LogEvent.RUN_INFO)
    assert start.msg == "Job stats\nclusterlens: this will take about 10 min on this machine"
    said(screen, event=LogEvent.JOB_INFO, jobid=1)
    run.clock.now = 600
    said(screen, event=LogEvent.JOB_FINISHED, job_id=1)
    record = said(screen, event=LogEvent.PROGRESS, done=1, total=2)
    assert (record.event, record.msg) == (None, "1 of 2 steps done, about 5 min left")


@pytest.fixture
def laptop(tmp_path, monkeypatch):
    """A config at laptop scale, an empty cache, and published evidence of two cores that train 100 images a second."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    evidence = tmp_path / "evidence"
    write_json(evidence / "machine.json", {"images_per_second": 100.0, "cores": 2})
    write_text(evidence / "seconds.csv", "job,seconds\ntrain_model vit,600\n")
    config = copy.deepcopy(CONFIG) | {"scale": "laptop"}
    return SimpleNamespace(config=config, evidence=evidence)


def test_the_measured_pace_scales_the_published_times(laptop):
    assert of_run(laptop.config, 2, laptop.evidence).slowness == 1
    pace.remember(laptop.config, 2, {"threads": 1, "images_per_second": 25.0})
    progress = of_run(laptop.config, 2, laptop.evidence)
    progress.plan({1: ("train_model vit", 1)})
    assert (progress.slowness, progress.left()) == (4, f"about {duration(4 * 600 / 2)}")


def test_more_cores_of_the_same_speed_count_once(laptop):
    pace.remember(laptop.config, 8, {"threads": 1, "images_per_second": 400.0})
    progress = of_run(laptop.config, 8, laptop.evidence)
    progress.plan(dict.fromkeys(range(16), ("train_model vit", 1)))
    assert progress.left() == f"about {duration(16 * 600 / 8)}"


def test_other_scales_and_a_clone_without_evidence_say_nothing(laptop, tmp_path):
    assert of_run(laptop.config | {"scale": "mini"}, 2, laptop.evidence) is None
    progress = of_run(laptop.config, 2, tmp_path / "nowhere")
    progress.plan({1: ("train_model vit", 1)})
    assert progress.left() == ""


def test_the_pace_is_remembered_for_its_model_and_cores_only(laptop):
    found = {"threads": 2, "images_per_second": 25.0}
    pace.remember(laptop.config, 2, found)
    assert pace.remembered(laptop.config, 2) == found
    assert pace.remembered(laptop.config, 4) is None
    laptop.config["architecture"]["depth"] += 1
    assert pace.remembered(laptop.config, 2) is None


def test_a_user_without_a_home_remembers_nothing(laptop, monkeypatch):
    monkeypatch.setattr(pace, "user_cache", lambda: None)
    assert pace.remembered(laptop.config, 2) is None
    with pytest.raises(OSError, match="no home folder"):
        pace.remember(laptop.config, 2, {"threads": 1})


def test_a_damaged_memory_is_none(laptop):
    pace.remember(laptop.config, 2, {"threads": 1})
    pace.place(laptop.config, 2).write_text("{")
    assert pace.remembered(laptop.config, 2) is None
