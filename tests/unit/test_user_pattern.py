"""A user's own attention in its process: judged like a pattern, and harmless whatever it does."""

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from clusterlens.attention.diagnosis import candidates, diagnose
from clusterlens.attention.tokens import from_matrix
from clusterlens.attention.user_pattern import UserPattern
from clusterlens.attention.user_process import Broken

SETTINGS = {"clusters": [2, 3], "seeds": [0, 1], "iterations": 3, "axis": "feature", "radius": 0.1, "time_limit": 60}
GLOBAL = """
import numpy as np
from helper import softmax
def attention(x):
    return softmax(x @ x.T / np.sqrt(x.shape[1])) @ x
"""
HELPER = """
import numpy as np
def softmax(s):
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
"""
BROKEN = {
    "def attention(x):\n    return x[:5]": r"shape \(5, 2\) for x of shape \(60, 2\)",
    "def attention(x):\n    return x * float('nan')": "NaN or infinity for 60 of 60 tokens",
    "def attention(x):\n    return x.oops": "AttributeError",
    "def attention(x):\n    raise SystemExit(3)": "SystemExit",
    "def attention(x):\n    return 'z'": "str, but an array of numbers",
    "def attend(x):\n    return x": "no function 'attention'",
    "def attention(x)\n    return x": "could not be loaded: SyntaxError",
    "import os\ndef attention(x):\n    os._exit(7)": "ended by itself, with exit code 7",
    "import os\nos._exit(0)": "ended by itself, with exit code 0",
    "import ctypes\ndef attention(x):\n    ctypes.string_at(0)": "ended by itself, killed by SIGSEGV",
}


@pytest.fixture
def tokens(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(60, 2)) + 3 * (np.arange(60)[:, None] % 2))
    return from_matrix(str(tmp_path / "x.npy"), limit=100)


def written(folder: Path, source: str) -> str:
    (folder / "mine.py").write_text(source)
    return str(folder / "mine.py")


def test_it_is_judged_like_a_pattern(tmp_path, tokens):
    (tmp_path / "helper.py").write_text(HELPER)
    findings = diagnose(tokens, candidates([], [written(tmp_path, GLOBAL)]), **SETTINGS)
    assert [finding.failure for finding in findings] == ["", ""]
    assert findings[1].measures[0]["rand index"] == 1
    np.testing.assert_allclose(findings[1].first.history, findings[0].first.history, atol=1e-10)
    cost = findings[1].cost
    assert cost["seconds"] > 0 and cost["bytes"] >= 60 * 60 * 8 and cost["multiply_adds"] is None


@pytest.mark.parametrize(("source", "message"), BROKEN.items())
def test_what_breaks_is_a_result_and_the_others_still_run(tmp_path, tokens, source, message):
    chosen = candidates([{"pattern": "local", "window": 10}], [written(tmp_path, source)])
    findings = diagnose(tokens, [chosen[0], chosen[2], chosen[1]], **SETTINGS)
    assert not findings[0].failure and not findings[2].failure
    assert re.search(message, findings[1].failure) and "\n" not in findings[1].failure


def test_a_tensor_in_place_of_an_array_gets_a_hint(tmp_path):
    source = "def attention(x):\n    raise TypeError('must be Tensor, not ndarray')"
    with UserPattern(written(tmp_path, source), limit=60) as own, pytest.raises(Broken, match="as_tensor"):
        own.attention(0)(torch.ones(4, 2), 0)


def test_it_changes_neither_its_input_nor_the_folder(tmp_path):
    here = os.getcwd()
    source = "import os\ndef attention(x):\n    os.chdir('/')\n    x *= 0\n    return x"
    x = torch.ones(4, 2)
    with UserPattern(written(tmp_path, source), limit=60) as own:
        z, kept = own.attention(0)(x, 0)
    assert z.abs().max() == 0 and kept.min() == 1 and os.getcwd() == here


def test_it_is_killed_at_the_limit_with_all_that_it_started(tmp_path):
    source = f"""
import signal, subprocess, sys, time
def attention(x):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({str(tmp_path / "pid")!r}, "w").write(str(started.pid))
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""
    begun = time.monotonic()
    with pytest.raises(Broken, match="stopped after 3 seconds"), UserPattern(written(tmp_path, source), limit=3) as own:
        own.attention(0)(torch.ones(4, 2), 0)
    assert time.monotonic() - begun < 60
    started = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if ended(started):
            break
        time.sleep(0.1)
    assert ended(started)


def ended(pid: int) -> bool:
    """Whether a process is gone, or waits only to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True
