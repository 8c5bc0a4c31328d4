"""The launcher tells targets from option values, whatever the order of words."""

import pytest
from launcher import rearrange

TARGET = "results/table2.csv"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (f"--cores 1 --resources gpu=1 {TARGET}", f"--cores 1 --resources gpu=1 -- {TARGET}"),
        (f"-n --cores 1 --resources gpu=1 {TARGET}", f"-n --cores 1 --resources gpu=1 -- {TARGET}"),
        (f"--cores 1 --resources gpu=1 mem_mb=9 {TARGET} -n", f"--cores 1 --resources gpu=1 mem_mb=9 -n -- {TARGET}"),
        (f"--res gpu=1 {TARGET} other", f"--res gpu=1 -- {TARGET} other"),
        (f"--resources=gpu=1 {TARGET}", f"--resources=gpu=1 -- {TARGET}"),
        (f"--config mirror=../data {TARGET}", f"--config mirror=../data -- {TARGET}"),
        (f"-C device=cpu {TARGET} --cores 1", f"-C device=cpu --cores 1 -- {TARGET}"),
        (f"--configfile config/mini.yaml {TARGET}", f"--configfile config/mini.yaml -- {TARGET}"),
        (f"--set-threads train=2 {TARGET}", f"--set-threads train=2 -- {TARGET}"),
        (f"--resources gpu=1 -- {TARGET}", f"--resources gpu=1 -- {TARGET}"),
        (f"--resources gpu=1 a -- {TARGET}", f"--resources gpu=1 -- a {TARGET}"),
        (f"{TARGET} --cores 1", f"{TARGET} --cores 1"),
        (f"--cores 1 {TARGET}", f"--cores 1 {TARGET}"),
        ("--rerun-triggers mtime params --cores 1", "--rerun-triggers mtime params --cores 1"),
        ("", ""),
    ],
)
def test_targets_are_found(typed, expected):
    assert rearrange(typed.split()) == expected.split()


def parsed(words: list[str]):
    from snakemake.cli import parse_args

    return parse_args(words)[1]


def test_snakemake_reads_the_rearranged_line():
    assert set(parsed(rearrange(["--cores", "1", "--resources", "gpu=1", TARGET])).targets) == {TARGET}


def test_the_plain_line_is_what_snakemake_refuses():
    with pytest.raises((SystemExit, ValueError)):
        parsed(["--cores", "1", "--resources", "gpu=1", TARGET])
