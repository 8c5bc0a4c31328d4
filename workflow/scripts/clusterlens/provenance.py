"""The manifest beside every result: what went in, what ran, where, and whether anything in it is a stand-in."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from clusterlens.files import digest, read_json, sha256, write_json
from clusterlens.logs import versions

ROOT = Path(__file__).resolve().parents[3]


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


def device() -> str:
    """What torch would compute on, without importing torch for jobs that do not use it."""
    if torch := sys.modules.get("torch"):
        return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    return "cpu"


def upstream(inputs: list[str]) -> dict:
    """What the manifests among the inputs pass on: stand-ins add up, seeds are taken over."""
    manifests = [read_json(path) for path in inputs if str(path).endswith("manifest.json")]
    return {
        "stand_ins": sorted({name for manifest in manifests for name in manifest["stand_ins"]}),
        "seeds": sorted({seed for manifest in manifests for seed in manifest["seeds"]}),
    }


def write_manifest(smk, facts: dict, seconds: float) -> None:
    """Write `smk.output.manifest` from the job itself and from `facts`, what the script's main returned.

    `facts` may hold `seeds`, `stand_ins`, `device` and anything else worth keeping; `smk.config` is only digested and
    asked for its label `scale`, never used as a setting.
    """
    passed_on = upstream(list(smk.input))
    params = dict(smk.params.items())
    manifest = {
        "rule": smk.rule,
        "wildcards": dict(smk.wildcards.items()),
        "scale": smk.config["scale"],
        "stand_ins": sorted(set(passed_on["stand_ins"]) | set(facts.pop("stand_ins", []))),
        "seeds": facts.pop("seeds", params.get("seeds", [params["seed"]] if "seed" in params else passed_on["seeds"])),
        "device": str(facts.pop("device", device())),
        "config_digest": digest(smk.config),
        "params_digest": digest(params),
        "inputs": {str(path): sha256(path) for path in smk.input},
        "commit": commit(),
        "versions": versions(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        **facts,
    }
    write_json(smk.output.manifest, manifest)
