"""What comes from elsewhere runs no code, and secrets stay where they are."""

import ast
import hashlib
import io
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from test_diagnose import measured
from test_job import Named

from clusterlens import job
from clusterlens.attention.tokens import from_matrix, from_table
from clusterlens.data.cifar import ArrayUnpickler
from clusterlens.data.formats import read_arrays
from clusterlens.errors import UserError
from clusterlens.figures.diagnosis_page import compose
from clusterlens.metrics.ranking import summary
from clusterlens.probing.load import load
from clusterlens.provenance import ROOT
from clusterlens.redaction import redacted
from clusterlens.training import checkpoints
from clusterlens.training.images import load_split
from reference import tiny

SOURCES = [file for place in ("workflow", "tools") for file in (ROOT / place).rglob("*.py")]
KEY = "0123-not-a-real-key"


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def calls(tree: ast.AST):
    """Every call: the name of what is called, and its keyword arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), {word.arg: ast.unparse(word.value) for word in node.keywords}


def test_no_source_unpickles_unpacks_or_starts_a_shell():
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in SOURCES]
    for name, words in (call for tree in trees for call in calls(tree)):
        assert name.rpartition(".")[2] not in ("extractall", "system", "popen", "unsafe_load"), name
        assert name not in ("eval", "exec", "pickle.load", "pickle.loads", "joblib.load", "pd.read_pickle"), name
        assert words.get("shell", "False") == "False" and words.get("allow_pickle", "False") == "False", name
        assert "trust_remote_code" not in words, name
        assert name != "torch.load" or words.get("weights_only") == "True"
        assert name != "yaml.load" or "Safe" in words["Loader"]


@pytest.mark.parametrize(
    "wanted",
    [
        "os system",
        "builtins eval",
        "builtins getattr",
        "numpy load",
        "numpy.core.multiarray scalar",
        "copyreg _reduce_ex",
    ],
)
def test_the_array_loader_finds_nothing_but_arrays_and_bytes(wanted):
    module, name = wanted.split()
    with pytest.raises(UserError, match="do not trust this file"):
        ArrayUnpickler(io.BytesIO(f"c{module}\n{name}\n.".encode())).load()
    dotted = b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93."  # by protocol 4 names may have dots
    with pytest.raises(UserError, match=r"ndarray\.tofile"):
        ArrayUnpickler(io.BytesIO(dotted)).load()
    plain = {b"data": np.arange(6, dtype=np.uint8), b"labels": [1, 2], b"name": b"x"}
    found = ArrayUnpickler(io.BytesIO(pickle.dumps(plain, protocol=2)), encoding="bytes").load()
    assert found[b"labels"] == [1, 2] and (found[b"data"] == plain[b"data"]).all()


def test_prepared_arrays_are_never_unpickled(tmp_path):
    trap = np.array([Trap(tmp_path / "trap")] * 3, dtype=object)
    np.savez(tmp_path / "a.npz", train_x=trap, train_y=trap, tokens=trap)
    np.save(tmp_path / "a.npy", trap, allow_pickle=True)
    for read in (
        lambda: read_arrays(tmp_path / "a.npz", ["tokens"]),
        lambda: load_split(str(tmp_path / "a.npz"), "train", classes=2, limit=None),
        lambda: from_matrix(str(tmp_path / "a.npy"), limit=9),
    ):
        with pytest.raises((UserError, ValueError)):
            read()
    assert not (tmp_path / "trap").exists()


def test_a_checkpoint_of_a_run_holds_nothing_that_runs(tmp_path):
    """With the right digest in front, so that only the loader is left to refuse it."""
    buffer = io.BytesIO()
    torch.save({"model": Trap(tmp_path / "trap"), "settings": {}}, buffer)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest().encode()
    (tmp_path / "epoch00001.pt").write_bytes(digest + buffer.getvalue())
    assert checkpoints.load_latest(tmp_path, {}) is None
    assert not (tmp_path / "trap").exists()


def test_code_of_a_tokenizer_is_not_run_and_nobody_is_asked(tmp_path, monkeypatch):
    tiny.save("albert", tmp_path)
    about = {"tokenizer_class": "Harm", "auto_map": {"AutoTokenizer": ["harm.Harm", None]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(about))
    (tmp_path / "harm.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'trap')!r})\nclass Harm: pass\n")
    asked = []
    monkeypatch.setattr("builtins.input", lambda *words: asked.append(words) or "y")
    load(str(tmp_path))
    assert not asked and not (tmp_path / "trap").exists()


# Secrets


@pytest.mark.parametrize("name", ["KAGGLE_KEY", "HF_TOKEN", "DB_PASSWORD"])
def test_logs_and_manifests_hide_secrets(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(name, KEY)
    smk = Named(rule="retrieve_dataset", input=Named(), wildcards=Named(), config={}, log=[str(tmp_path / "job.log")])
    smk.params = Named(address=f"https://somebody:hunter2@mirror.example/{KEY}", deep={"of": [KEY]})
    smk.output = Named(manifest=str(tmp_path / "manifest.json"))
    job.run(lambda smk: {"answer": f"token {KEY}"}, smk)
    kept = (tmp_path / "manifest.json").read_text()

    def fails(smk):
        raise RuntimeError(f"401 for {KEY}")

    with pytest.raises(SystemExit):
        job.run(fails, smk)
    shown = kept + (tmp_path / "job.log").read_text() + capsys.readouterr().err
    assert "RuntimeError: 401 for [hidden]" in shown and "mirror.example" in shown
    assert KEY not in shown and "hunter2" not in shown


def test_short_values_and_other_variables_are_left_alone(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "on")
    monkeypatch.setenv("SOMEWHERE", "a-long-enough-value")
    kept = {"on": ["a-long-enough-value", 3, None], "mail": "a@b.c"}
    assert redacted(kept) == kept


# Names from data


def test_names_of_files_and_columns_are_escaped_on_the_page(tmp_path):
    harm = "<img src=x onerror=alert(1)>"
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=[harm, "b"]).assign(
        **{f"{harm}y": [0, 1] * 10}
    )
    file = tmp_path / f"{harm}$(touch pwned)`id`.csv"
    table.to_csv(file, index=False)
    tokens = from_table(str(file), [harm, "b"], f"{harm}y", limit=20)
    cost = {"seconds": 0.001, "bytes": 2048.0, "multiply_adds": 1e6}
    patterns = [{"name": name, "about": harm, "failure": "", "cost": cost} for name in ("global", harm)]
    broken = {"name": f"{harm}2", "about": harm, "failure": harm, "cost": {}}
    measures = measured({"global": [1.0, 1.0], harm: [0.9, 0.95]})
    settings = {"iterations": 3, "seeds": [0, 1], "data": {"table": str(file), "columns": [harm]}}
    outcome = {"data": tokens.about, "tokens": 20, "patterns": [*patterns, broken]}
    page = compose(outcome, measures, summary(measures, ["global", harm]), {}, settings, [harm])
    assert "<img" not in page and page.count("&lt;img src=x") >= 6
