"""What A Section 4 compares: the arms of the experiment, and the runs that make them up."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Arm:
    label: str
    scaling: str
    shared_projections: bool = False  # one projection for query, key and value


# The first two are A's. The others are ours: an in-place division that reaches more than the query, as it does where
# nothing is projected (A Section 3.3), and one projection for query, key and value, which the division then reaches.
ARMS = {
    "sdp": Arm("SDP", "sdp"),
    "sq_exact": Arm("SQ", "sq_exact"),
    "sq_inplace": Arm("SQ in place", "sq_inplace"),
    "sdp_shared": Arm("SDP shared", "sdp", shared_projections=True),
    "sq_shared": Arm("SQ shared", "sq_inplace", shared_projections=True),
}
PAPERS_ARMS = ("sdp", "sq_exact")  # also run with the other windows
# (arm, arm that it is compared with): same seed, same initial weights, same batches, same masks.
PAIRS = (("sq_exact", "sdp"), ("sq_inplace", "sdp"), ("sq_shared", "sdp_shared"))
TASKS = {"imdb": "IMDB", "sst2": "SST-2"}
# The keys of the config's section `language_model` that both phases of training use.
MODEL = [
    *("hidden_dimension", "attention_heads", "intermediate_size", "layers", "max_sequence_length"),
    *("dropout", "clip_norm", "mixed_precision"),
]


@dataclass(frozen=True)
class LanguageRun:
    """One pre-training; `name` is how its files are called."""

    arm: str
    window: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.arm}_w{self.window}_seed{self.seed}"


def difference(arm: str, base: str) -> str:
    """`SQ - SDP`."""
    return f"{ARMS[arm].label} - {ARMS[base].label}"


def language_runs(settings: dict) -> list[LanguageRun]:
    """Every arm with the window of A Table 2, and the paper's two arms with the other windows of A Figure 11."""
    chosen = [(arm, settings["window"]) for arm in ARMS]
    chosen += [(arm, window) for window in settings["windows"] for arm in PAPERS_ARMS if window != settings["window"]]
    return [LanguageRun(arm, window, seed) for arm, window in chosen for seed in settings["seeds"]]


def language_jobs(settings: dict, window: int | None = None) -> dict[str, list[dict]]:
    """The runs of each job by its name, of all windows or of one.

    A job is one run, or all runs of a seed where starting a job takes longer than a run.
    """
    jobs: dict[str, list[dict]] = {}
    for run in language_runs(settings):
        if window in (None, run.window):
            job = run.name if settings["jobs"] == "run" else f"seed{run.seed}"
            jobs.setdefault(job, []).append(asdict(run))
    return jobs
