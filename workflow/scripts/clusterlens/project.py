"""What the rules ask: the checked config, the register of items, the data sets, and what each job depends on."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from clusterlens import pace
from clusterlens.config import Settings, check_config, complete, load_schema
from clusterlens.data import diagnosed, registry
from clusterlens.data import settings as data_settings
from clusterlens.errors import UserError, nearest
from clusterlens.imports import PACKAGE, fingerprint
from clusterlens.items import PAPERS, Item, read_items
from clusterlens.models.arms import language_jobs
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.provenance import ROOT, in_tree, worst
from clusterlens.schema import read_yaml

NOTHING = "(?!)"  # a pattern for a wildcard that takes no value
# Reruns nothing: its parameter is also a function of `output`, and those Snakemake does not compare.
UNTRACKED = {"device"}
Setting = str | tuple[str, str]  # a path in the config, or the path of a section and the role of the keys taken of it


class Project:
    """One run of the workflow with its config."""

    def __init__(self, config: dict, *, cores: int = 1, module=None):
        """`cores` are those that jobs share.

        `module` is Snakemake's description of it where this is a module of another workflow. Then the config may hold
        only what differs from the shipped one, and a prefix may move all folders.
        """
        schema = load_schema()
        self.shipped = read_yaml(ROOT / "config" / "config.yaml")
        if module:
            complete(config, self.shipped)
            folders = {name: module.path_modifier.replace_prefix(f"<{name}>") for name in config["pathvars"]}
            config["pathvars"] = {name: module.pathvars.apply(path) for name, path in folders.items()}
        check_config(config, schema, self.shipped)
        self.config, self.cores = config, cores
        self.datasets = registry.load(ROOT / "config" / "datasets.yaml")
        data_settings.declare(config["data"], self.shipped["data"], self.datasets)
        data_settings.check_data(config["data"])
        data_settings.check_images(config["training"], self.datasets["cifar10"], config["data"]["cifar10"]["source"])
        diagnosed.check_diagnosis(config["diagnose"])
        laptop = read_yaml(ROOT / "config" / "laptop.yaml")
        complete(laptop, self.shipped)
        self.settings = Settings(config, self.shipped, schema, laptop)
        self.items = read_items()
        self.check_simulations()
        self.runs = [*VARIANTS, LEARNED]
        self.seeds = config["training"]["seeds"]

    def check_simulations(self) -> None:
        """Refuse settings that belong to no simulated item, and a simulated item without settings."""
        for paper in PAPERS:
            place, set_up = f"config key 'simulations/{paper}'", self.config["simulations"].get(paper, {})
            known = [item.name for item in self.items.of(paper) if item.simulated]
            for name in set_up:
                if name not in known:
                    raise UserError(f"{place}: unknown item '{name}': {nearest(name, known)}")
            for name in known:
                if name not in set_up:
                    raise UserError(f"{place}: no settings for the simulated item '{name}' of items.tsv; add them")

    # Parameters of rules

    def used(self, script: str, *modules: str, **settings: Setting) -> dict[str, Callable]:
        """A rule's parameters: its code as a digest, the settings it uses, and the label of their scale.

        `modules` are library files that the script imports by name, such as `simulated/{paper}.py`.
        """
        chosen = {name: (path, None) if isinstance(path, str) else path for name, path in settings.items()}

        def value(path: str, role: str | None) -> Callable:
            if path in UNTRACKED:
                return lambda wildcards, output: self.settings.value(path)
            return lambda wildcards: self.settings.value(path.format(**dict(wildcards.items())), role)

        def scale(wildcards) -> str:
            known = dict(wildcards.items())
            return worst(self.settings.scale(path.format(**known), role) for path, role in chosen.values())

        def code(wildcards) -> str:
            known = dict(wildcards.items())
            behind = (PACKAGE / module.format(**known) for module in modules)
            return fingerprint(PACKAGE.parent / f"{script}.py", *behind)

        return {name: value(*place) for name, place in chosen.items()} | {"scale": scale, "code": code}

    def run_list(self, runs: list[str]) -> dict[str, list]:
        """Run and seed of each training run, in the order in which `collect` names their files."""
        return {"runs": [run for run in runs for _ in self.seeds], "seeds": [seed for _ in runs for seed in self.seeds]}

    def checkpoint_folder(self, wildcards) -> str:
        """Where a run keeps its checkpoints: outside its outputs, which Snakemake deletes when a job is killed."""
        return f"{self.config['pathvars']['results']}/checkpoints/{wildcards.run}/seed{wildcards.seed}"

    def stand_in_folder(self, wildcards) -> str:
        return f"{self.config['pathvars']['results']}/checkpoints/{wildcards.dataset}"

    def language_checkpoints(self, phase: str) -> str:
        """Where the language models of a phase keep theirs: each run in a folder of its own, whichever its job."""
        return f"{self.config['pathvars']['results']}/checkpoints/{phase}"

    def language_jobs(self, window: int | None = None) -> dict[str, list[dict]]:
        """The pre-trainings of each job, by its name; only those with one window, if it is named."""
        return language_jobs(self.config["language_model"], window)

    # Items

    def targets(self, paper: str | None = None) -> list[str]:
        return [path for item in self.items.of(paper) for path in item.files]

    @property
    def existing(self) -> bool:
        """Whether verification takes what is on disk (`verify: {items: existing}`) and has nothing made."""
        return self.config["verify"]["items"] == "existing"

    def wanted_targets(self) -> list[str]:
        """Every item that the default target asks for."""
        return [] if self.existing else self.targets()

    def judged(self) -> list[Item]:
        """The items whose numbers are compared: all with rules or, of existing ones, those on disk."""
        return [item for item in self.items if item.judged and self.verified([item.manifest, item.numbers])]

    def shown_files(self) -> list[str]:
        """The files that the atlas shows."""
        return self.as_found(path for path in self.targets() if self.verified([path]))

    def verified(self, paths: list[str]) -> bool:
        return not self.existing or all(self.on_disk(path).is_file() for path in paths)

    def as_found(self, paths: Iterable[str]) -> list[str]:
        """Inputs of verification: results of rules or, if existing ones are taken, plain files.

        No rule makes a file that is named from the root, so that none of them is ever made again.
        """
        return [str(self.on_disk(path)) if self.existing else path for path in paths]

    def on_disk(self, path: str) -> Path:
        return Path(self.resolved(path)).absolute()

    def resolved(self, path: str) -> str:
        """A path of the path grammar as it is on disk."""
        return re.sub(r"<(\w+)>", lambda found: self.config["pathvars"][found[1]], path)

    def names(self) -> list[str]:
        """What a user may ask for beside rules: files of items, their short names, verdicts, the atlas, data sets."""
        short = [item.target.replace("results", "<results>", 1) for item in self.items.of()]
        whole = [f"<results>/{name}" for name in ("comparison.csv", "claims.csv", "verdicts.png", "atlas/index.html")]
        return [self.resolved(path) for path in (*short, *self.targets(), *whole, *self.data_targets())]

    def published(self) -> list[str]:
        """What the papers print, as files of this tree."""
        return sorted(in_tree(str(file.relative_to(ROOT))) for file in (ROOT / "published").rglob("*.*"))

    # Data sets

    def data_targets(self) -> list[str]:
        """Every data set; in mini only those that need no network."""
        offline = self.config["scale"] == "mini"
        chosen = {name: settings["source"] for name, settings in self.config["data"].items()}
        names = [name for name, source in chosen.items() if not offline or source in ("embedded", "file")]
        return [f"<resources>/{name}/manifest.json" for name in names]

    def of_kind(self, kind: str) -> str:
        """The data sets of one kind, as a pattern for the wildcard `dataset`."""
        return "|".join(name for name, entry in self.datasets.items() if entry["kind"] == kind)

    @cached_property
    def stand_ins(self) -> list[str]:
        """The checkpoints for which the workflow trains a stand-in itself."""
        names = [name for name, entry in self.datasets.items() if entry["kind"] == "checkpoint"]
        return [name for name in names if self.config["data"][name]["source"] == "embedded"]

    def training_threads(self, gpus: int) -> int:
        """With a GPU as many as prepare its data; without one what `make laptop` measured to be fastest, or one."""
        known = pace.remembered(self.config, self.cores) or {"threads": 1}
        return 4 if gpus else known["threads"]

    def probing_threads(self, wildcards) -> int:
        """A job on tiny checkpoints is done before a second thread would help."""
        return 1 if self.stand_ins else 4

    def trained_here(self) -> str:
        """These checkpoints, as a pattern for the wildcard `dataset`."""
        return "|".join(self.stand_ins) or NOTHING

    def retrieved(self) -> str:
        """All other data sets."""
        return "|".join(name for name in self.datasets if name not in self.stand_ins)

    def entry(self, wildcards) -> dict:
        return self.datasets[wildcards.dataset]

    def changed_data(self, wildcards) -> dict[str, object]:
        """The settings of a data set that are not the paper's, by name."""
        chosen = self.config["data"][wildcards.dataset]
        names = [key.split("/")[2] for key in self.settings.changed(f"data/{wildcards.dataset}")]
        return {name: chosen[name] for name in names}

    def own_files(self, wildcards) -> list[str]:
        """The user's own files that a data set is made from, so that editing one prepares it again."""
        return list(data_settings.named(self.config["data"][wildcards.dataset]).values())

    def mirror(self, wildcards, output) -> str | None:
        """The mirror, for data sets that are looked for there. Like `device` it reruns nothing: data on disk stay."""
        chosen = self.config["data"][wildcards.dataset]
        return None if chosen["source"] == "embedded" or data_settings.named(chosen) else self.config["mirror"]

    def diagnosed_files(self) -> list[str]:
        """The user's own files that a diagnosis reads, so that editing one diagnoses again."""
        section = self.config["diagnose"]
        return diagnosed.named_files(section) + diagnosed.checkpoint_files(section)

    def diagnosed_example(self) -> list[str]:
        """What a diagnosis is made on when the config names no data: the sample of the diabetes table."""
        example = ["<resources>/diabetes/sample.csv", "<resources>/diabetes/manifest.json"]
        return example if diagnosed.uses_example(self.config["diagnose"]) else []


def growing(minutes: int) -> Callable:
    """A time limit that grows each time a job is sent again."""
    return lambda wildcards, attempt: minutes * attempt
