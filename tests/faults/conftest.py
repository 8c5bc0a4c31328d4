"""One undisturbed run that all others must equal, and a start of Snakemake whose screen is kept."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from checkout import ROOT, copy_checkout, start_snakemake, trained

from clusterlens.files import read_json, sha256

OVERLAYS = ("config/mini.yaml", str(ROOT / "tests/workflow/tiny.yaml"), str(ROOT / "tests/faults/overlay.yaml"))
RUN = "results/mini/runs/vit/seed0"
ITEMS = ("attention_clusters/fig1", "emergence/boolean_matrix")
TARGETS = (f"{RUN}/metrics.csv", *(f"results/mini/{item}.png" for item in ITEMS))


class Checkout:
    """A checkout in which Snakemake is started and disturbed; `screen` holds what it showed last."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run = folder, folder / RUN

    @property
    def screen(self) -> str:
        return (self.folder / "screen.txt").read_text()

    @property
    def said(self) -> list[str]:
        """What clusterlens itself told the user."""
        return [line for line in self.screen.splitlines() if line.startswith("clusterlens: ")]

    def start(self, *targets: str, screen: str = "screen.txt", words: tuple[str, ...] = ()) -> subprocess.Popen:
        command = ("--cores", "1", *words, "--configfile", *OVERLAYS, "--", *(targets or TARGETS[:1]))
        with open(self.folder / screen, "w") as output:
            return start_snakemake(*command, folder=self.folder, stdout=output, stderr=output)

    def call(self, *targets: str, words: tuple[str, ...] = ()) -> int:
        started = self.start(*targets, words=words)
        try:
            return started.wait(600)
        finally:
            started.kill()

    def finish(self, *targets: str) -> None:
        assert self.call(*targets) == 0, self.screen[-4000:]

    def results(self) -> tuple:
        """All that a disturbance must not change, after a check that every file is what its manifest says."""
        items = (self.folder / f"results/mini/{item}.manifest.json" for item in ITEMS)
        manifests = [self.run / "manifest.json", *items]
        for manifest in manifests:
            for name, recorded in read_json(manifest)["outputs"].items():
                assert sha256(manifest.parent / name) == recorded, name
        tables = [(self.folder / f"results/mini/{item}.csv").read_bytes() for item in ITEMS]
        return trained(self.run), *tables


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Checkout:
    """A checkout after a run that nothing disturbed."""
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("undisturbed")))
    checkout.finish(*TARGETS)
    return checkout


@pytest.fixture
def finished(undisturbed, tmp_path) -> Checkout:
    """A copy of the undisturbed run."""
    return Checkout(Path(shutil.copytree(undisturbed.folder, tmp_path / "clone")))


@pytest.fixture
def untrained(finished) -> Checkout:
    """A copy in which all is done but the training."""
    shutil.rmtree(finished.run)
    return finished


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[None]:
    """A file system at `place` while the block runs; the test is skipped where mounting is not allowed."""
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *words, str(place)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
