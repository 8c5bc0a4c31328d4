"""The tree keeps its own rules: formats, pins, documents that match what they document."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from document import DOCUMENTS, rewritten
from media import with_verdicts

from clusterlens.config import at, check_config, described, load_schema
from clusterlens.items import read_items

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def pins(lines) -> dict[str, str]:
    found = (re.search(r"([\w.-]+)==([\w.]+)", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match}


def test_conda_environments_pin_what_the_lock_pins():
    lock = pins((ROOT / "requirements.lock").read_text().splitlines())
    for file in (ROOT / "envs").glob("*.yaml"):
        environment = pins(file.read_text().splitlines())
        assert environment and environment.items() <= lock.items(), file.name


def test_every_key_is_described_and_has_its_one_default_in_the_config():
    for path, entry in described(load_schema()):
        assert entry.get("description"), f"{path} has no description"
        assert "default" not in entry, f"{path} has a default in the schema too"
        section, _, key = path.rpartition("/")
        assert "<item>" in path or key in (at(CONFIG, section) if section else CONFIG), f"{path} has no default"


def test_the_schema_is_closed_everywhere():
    def walk(schema, path):
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema.get("additionalProperties") is False, f"{path} is open"
            for name, entry in schema.items():
                walk(entry, f"{path}/{name}")

    walk(load_schema(), "")


@pytest.mark.parametrize("overlay", ["mini.yaml", "laptop.yaml"])
def test_an_overlay_only_changes_keys_that_exist(overlay):
    def merge(base, overlay):
        merged = dict(base)
        for key, value in overlay.items():
            merged[key] = merge(base.get(key, {}), value) if isinstance(value, dict) else value
        return merged

    check_config(merge(CONFIG, yaml.safe_load((ROOT / "config" / overlay).read_text())), load_schema(), CONFIG)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_generated_tables_are_current(file):
    assert file.read_text(encoding="utf-8") == rewritten(file), "run make docs"


def test_the_sentence_of_results_is_that_of_the_evidence():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == with_verdicts(readme), "run make evidence"


def test_every_built_item_has_a_caption():
    for item in read_items().of():
        caption = ROOT / item.caption_text
        assert caption.is_file() and caption.read_text().strip(), caption


def test_every_script_belongs_to_a_rule_of_its_name():
    rules = "".join(file.read_text() for file in (ROOT / "workflow" / "rules").glob("*.smk"))
    scripts = {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")}
    assert scripts == set(re.findall(r'"\.\./scripts/(\w+)\.py"', rules))
    assert scripts <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE))


def stated_resources() -> dict[str, tuple[str, str]]:
    """Memory and time of every rule that states threads as well; a rule made from another has the other's."""
    text = "".join(file.read_text() for file in (ROOT / "workflow" / "rules").glob("*.smk"))
    stated = {}
    for block in re.split(r"^(?=rule )", text, flags=re.MULTILINE)[1:]:
        own = re.split(r"^use rule ", block, flags=re.MULTILINE)[0]
        asked = re.search(
            r"^    threads: .+\n    resources:\n(?: {8}gpu=.+\n)? {8}mem_mb=(\d+),\n {8}runtime=(.+),\n", own, re.M
        )
        if asked:
            stated[re.match(r"rule (\w+):", block)[1]] = (
                asked[1],
                re.sub(r"growing\((\d+)\)", r"\1, growing", asked[2]),
            )
    derived = re.findall(r"^use rule (\w+) as (\w+) with:", text, re.MULTILINE)
    return stated | {new: stated[old] for old, new in derived if old in stated}


def test_rules_that_compute_state_what_they_ask_for_as_the_cluster_guide_lists_it():
    guide = (ROOT / "docs" / "cluster.md").read_text().partition("## What jobs ask for")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in guide.splitlines() if line.startswith("| `")]
    listed = {name: (row[2], row[3]) for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert listed == stated_resources()
    scripts = {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")}
    computing = ("train_", "pretrain_", "finetune_", "simulate_", "probe_", "evaluate_", "read_", "cluster_", "vary_")
    assert {name for name in scripts if name.startswith(computing)} <= {*listed}


def test_shell_commands_quote_every_path():
    for file in (ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")):
        for command in re.findall(r'^    shell:\n((?: {8}".*"\n)+)', file.read_text(), re.MULTILINE):
            assert all(path.endswith(":q") for path in re.findall(r"{(.+?)}", command)), command


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("snakefmt", "--check", "Snakefile", "workflow/rules"),
        ("mypy",),
    ],
    ids=" ".join,
)
def test_style(command):
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_snakemake_lint(snakemake):
    run = snakemake("--lint")
    assert run.returncode == 0, run.stdout + run.stderr
