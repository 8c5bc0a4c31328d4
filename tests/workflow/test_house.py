"""The tree keeps its own rules: formats, pins, documents that match what they document."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from document import DOCUMENTS, rewritten

from clusterlens.config import check_config, keys, load_schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "workflow" / "schemas"
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
with (ROOT / "published" / "items.tsv").open(encoding="utf-8") as stream:
    ITEMS = list(csv.DictReader(stream, delimiter="\t"))


def pins(lines) -> dict[str, str]:
    found = (re.search(r"([\w.-]+)==([\w.]+)", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match}


def test_conda_environments_pin_what_the_lock_pins():
    lock = pins((ROOT / "requirements.lock").read_text().splitlines())
    for file in (ROOT / "envs").glob("*.yaml"):
        environment = pins(file.read_text().splitlines())
        assert environment and environment.items() <= lock.items(), file.name


def test_every_key_has_the_default_and_the_description_it_documents():
    for path, entry in keys(load_schema(SCHEMAS)):
        value = CONFIG
        for part in path.split("/"):
            value = value[part]
        assert entry.get("description"), f"{path} has no description"
        assert "default" in entry and entry["default"] == value, f"{path}: schema and config.yaml differ"


def test_the_schema_is_closed_everywhere():
    def walk(schema, path):
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema.get("additionalProperties") is False, f"{path} is open"
            for name, entry in schema.items():
                walk(entry, f"{path}/{name}")

    walk(load_schema(SCHEMAS), "")


def test_mini_only_changes_keys_that_exist():
    def merge(base, overlay):
        merged = dict(base)
        for key, value in overlay.items():
            merged[key] = merge(base.get(key, {}), value) if isinstance(value, dict) else value
        return merged

    check_config(merge(CONFIG, yaml.safe_load((ROOT / "config" / "mini.yaml").read_text())), SCHEMAS)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_generated_tables_are_current(file):
    assert file.read_text(encoding="utf-8") == rewritten(file), "run make docs"


def test_every_built_item_has_a_caption():
    for item in ITEMS:
        if item["state"] == "built":
            caption = ROOT / "workflow" / "report" / item["paper"] / f"{item['item']}.rst"
            assert caption.is_file() and caption.read_text().strip(), caption


def test_every_script_belongs_to_a_rule_of_its_name():
    rules = "".join(file.read_text() for file in (ROOT / "workflow" / "rules").glob("*.smk"))
    scripts = {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")}
    assert scripts == set(re.findall(r'"\.\./scripts/(\w+)\.py"', rules))
    assert scripts <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE))


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("snakefmt", "--check", "Snakefile", "workflow/rules"),
    ],
    ids=" ".join,
)
def test_style(command):
    tool = Path(sys.executable).parent / command[0]
    run = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_snakemake_lint(snakemake):
    run = snakemake("--lint")
    assert run.returncode == 0, run.stdout + run.stderr
