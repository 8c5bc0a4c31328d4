"""The manifest of every result: what went in, what ran, where, and whether anything in it is a stand-in."""

import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from clusterlens.cache import processor, usable_cores
from clusterlens.errors import UserError
from clusterlens.files import digest, read_json, sha256, write_json
from clusterlens.logs import versions
from clusterlens.redaction import redacted

ROOT = Path(__file__).resolve().parents[3]
PAPER = "paper"  # the label of a result whose settings, and those of everything behind it, are the paper's
LAPTOP = "laptop"  # the label of config/laptop.yaml
# What takes the place of a data set or checkpoint: one made here from what packages ship or from a seed, the user's own
# files, or real data of the same kind: a part of them, other settings, a smaller published checkpoint.
EMBEDDED, OWN, REAL = "embedded", "own files", "real"
COMMAND = "CLUSTERLENS_COMMAND"  # the environment variable in which the launcher leaves what the user typed
NOT_SETTINGS = {"scale", "code", "checkpoints", "changed"}  # parameters that a manifest does not list as settings


def in_tree(path: str) -> str:
    """A file of this checkout as an input of a rule: a path in the tree or, from any other folder, the full path."""
    return path if Path.cwd() == ROOT else str(ROOT / path)


def commit() -> str:
    """The commit of this checkout, with `+changes` when tracked files differ from it, or `unknown` outside git."""
    git = ["git", "-C", str(ROOT)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run(
            [*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+changes" if dirty else "")


def in_history(name: str) -> bool:
    """Whether a commit is this checkout's or one before it; nothing is where git does not answer."""
    command = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", name, "HEAD"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def device() -> str:
    """What torch would compute on, without importing torch for jobs that do not use it."""
    if torch := sys.modules.get("torch"):
        return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    return "cpu"


def machine() -> str:
    """The processor, how many of its cores may be used, and the memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor()}, {usable_cores()} cores, {memory:.0f} GiB of memory"


def stand_in(dataset: str, label: str, kind: str, declares: dict | None = None) -> dict:
    """What takes the place of a data set, and the settings that it declares to be different by design."""
    return {"dataset": dataset, "label": label, "kind": kind} | ({"declares": declares} if declares else {})


def labels(inputs: Iterable[str]) -> list[str]:
    """The labels of all stand-ins behind these inputs, as figures and pages show them."""
    return [entry["label"] for entry in upstream(inputs)["stand_ins"]]


def upstream(inputs: Iterable[str]) -> dict:
    """What the manifests among the inputs pass on: stand-ins add up, and so do seeds; one scale marks all."""
    manifests = [read_json(path) for path in inputs if str(path).endswith("manifest.json")]
    return {
        "stand_ins": merged(entry for manifest in manifests for entry in manifest["stand_ins"]),
        "seeds": sorted({seed for manifest in manifests for seed in manifest["seeds"]}),
        "scale": worst(manifest["scale"] for manifest in manifests),
    }


def merged(stand_ins: Iterable[dict]) -> list[dict]:
    """Each once, by data set and label."""
    return [entry for _, entry in sorted({(one["dataset"], one["label"]): one for one in stand_ins}.items())]


def worst(scales: Iterable[str]) -> str:
    """`paper` if all are, else the first that is not."""
    return next((scale for scale in scales if scale != PAPER), PAPER)


def hash_inputs(inputs: Iterable[str]) -> dict[str, str]:
    """The digest of every input of a job; one that is not as the manifest beside it records is refused."""
    found = {from_here(path): sha256(path) for path in inputs}
    for manifest in (path for path in found if path.endswith("manifest.json")):
        for name, recorded in read_json(manifest).get("outputs", {}).items():
            path = os.path.normpath(Path(manifest).parent / name)
            if found.get(path, recorded) != recorded:
                raise UserError(
                    f"{path} is not what its job wrote (its SHA-256 is not the one in {manifest}): it was edited or"
                    " damaged; delete it and make it again"
                )
    return found


def from_here(path: str) -> str:
    """A path from the working folder, if it is inside."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative


def hash_outputs(smk) -> dict[str, str]:
    """The digest of every output but the manifest, by its path from the manifest's folder."""
    folder = Path(smk.output.manifest).parent
    paths = [path for path in smk.output if path != smk.output.manifest]
    return {os.path.relpath(path, folder): sha256(path) for path in paths}


def write_manifest(smk, facts: dict, seconds: float, inputs: dict[str, str]) -> None:
    """Write `smk.output.manifest` from the job itself and from `facts`, what the script's main returned.

    `facts` may hold `seeds`, `stand_ins`, `device` and anything else worth keeping; `smk.config` is only digested,
    never used as a setting. `inputs` holds the digests of the inputs as the job found them.
    """
    passed_on = upstream(smk.input)
    params = dict(smk.params.items())
    manifest = {
        "rule": smk.rule,
        "wildcards": dict(smk.wildcards.items()),
        "scale": worst([params.get("scale", PAPER), passed_on["scale"]]),
        "stand_ins": merged([*passed_on["stand_ins"], *facts.pop("stand_ins", [])]),
        "seeds": sorted(set(facts.pop("seeds", params.get("seeds", passed_on["seeds"])))),
        "device": str(facts.pop("device", device())),
        "settings": {name: value for name, value in params.items() if name not in NOT_SETTINGS},
        "config_digest": digest(smk.config),
        "code": params.get("code", ""),
        "inputs": inputs,
        "outputs": hash_outputs(smk),
        "commit": commit(),
        "command": os.environ.get(COMMAND, ""),
        "machine": machine(),
        "versions": versions(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        **facts,
    }
    write_json(smk.output.manifest, redacted(manifest))
