"""SIGKILL of a training job, of Snakemake and of both at random moments, and two Snakemakes in one folder."""

import os
import random
import signal
import time
from contextlib import suppress

import pytest
from checkout import let_training_pause, paused_training, training_process, wait_for

SEED = 15
LONGEST = 6.0  # seconds after the start of a job that imports for a second or two and then trains for as long
VICTIMS = (("job",), ("snakemake",), ("snakemake", "job"), ("job", "snakemake"))
PARTS = ("early", "middle", "late")  # of that time, a moment of each


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("victims", VICTIMS, ids="-".join)
def test_a_run_that_was_killed_resumes_and_ends_as_an_undisturbed_one(victims, part, undisturbed, untrained):
    share = PARTS.index(part) + random.Random(f"{SEED} {victims} {part}").random()
    moment = share / len(PARTS) * LONGEST
    print(f"seed {SEED}: {victims} killed {moment:.2f} s after the start of the job")
    started = untrained.start()
    job = wait_for(lambda: training_process(untrained.folder), "the training process")
    time.sleep(moment)
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill({"job": job, "snakemake": started.pid}[victim], signal.SIGKILL)
    code = started.wait(60)
    wait_for(lambda: not training_process(untrained.folder), "the end of the job", seconds=10)
    if code and victims == ("job",):
        (line,) = untrained.said
        assert "train_model" in line
    untrained.finish()
    assert untrained.results() == undisturbed.results()
    killed = [line for line in untrained.said if f"(process {started.pid}) was killed: its lock is removed" in line]
    assert len(killed) == ("snakemake" in victims and code == -signal.SIGKILL)


def test_a_job_killed_in_the_middle_says_so_and_a_damaged_checkpoint_is_passed_over(undisturbed, untrained):
    let_training_pause(untrained.folder)
    started = untrained.start()
    os.kill(paused_training(untrained.folder), signal.SIGKILL)
    assert started.wait(60) == 1
    assert untrained.said == [
        "clusterlens: train_model was killed, perhaps for lack of memory, see logs/mini/train_model/vit_seed0.log; the "
        "same command resumes"
    ]
    newest = max((untrained.folder / "results/mini/checkpoints").rglob("epoch*.pt"))
    os.truncate(newest, newest.stat().st_size // 2)
    untrained.finish()
    assert f"{newest.name} is damaged" in untrained.screen
    assert untrained.results() == undisturbed.results()


def test_a_snakemake_killed_in_the_middle_takes_its_job_along_and_the_next_one_resumes_it(undisturbed, untrained):
    let_training_pause(untrained.folder)
    started = untrained.start()
    paused_training(untrained.folder)
    started.kill()
    started.wait(60)
    wait_for(lambda: not training_process(untrained.folder), "the end of the job", seconds=10)
    untrained.finish()
    assert "resuming after epoch" in (untrained.folder / "logs/mini/train_model/vit_seed0.log").read_text()
    assert untrained.results() == undisturbed.results()


def test_of_two_that_start_at_once_one_runs_and_the_other_says_who_does(undisturbed, untrained):
    both = [untrained.start(screen=f"{number}.txt") for number in range(2)]
    codes = [started.wait(600) for started in both]
    assert sorted(codes) == [0, 1]
    winner, loser = codes.index(0), codes.index(1)
    last = (untrained.folder / f"{loser}.txt").read_text().splitlines()[-1]
    assert last.startswith(f"clusterlens: another Snakemake makes the same files (process {both[winner].pid} on ")
    assert untrained.results() == undisturbed.results()
