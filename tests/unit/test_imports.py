"""The import closure names what a script uses, and nothing that it does not."""

from pathlib import Path

import pytest

from clusterlens import imports

SCRIPTS = imports.PACKAGE.parent


def names(files) -> set[str]:
    return {str(file.relative_to(imports.PACKAGE)) for file in files}


def test_closure_follows_imports_through_the_library_and_leaves_plumbing_out():
    found = names(imports.closure(SCRIPTS / "table_configuration.py"))
    assert {"data/formats.py", "figures/configuration.py"} <= found
    assert not {"errors.py", "files.py", "job.py", "logs.py", "provenance.py", "config.py", "figures/style.py"} & found


def test_every_form_of_dependency_is_seen(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(
        "import clusterlens.seeds\nfrom clusterlens import devices\nimport numpy\nSOURCE = 'kernel.c'\n"
        "def later():\n    from clusterlens.errors import UserError\n"
    )
    (tmp_path / "kernel.c").write_text('#include <math.h>\n#include "shared.h"\n')
    (tmp_path / "shared.h").write_text("")
    library = {file for file in imports.closure(script) if file.is_relative_to(imports.PACKAGE)}
    assert names(library) == {"__init__.py", "seeds.py", "devices.py"}
    assert set(imports.closure(script)) - library == {tmp_path / "kernel.c", tmp_path / "shared.h"}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('"""Other words."""\n\n\n# a comment\ndef f(x):\n    """Other words."""\n    return x + 1\n', True),
        ('"""Words."""\ndef f(x):\n    return x + 2\n', False),
        ('"""Words."""\ndef f(x, y=3):\n    return x + 1\n', False),
        ('"""Words."""\nLIMIT = 3\ndef f(x):\n    return x + 1\n', False),
    ],
)
def test_the_fingerprint_changes_with_what_a_file_computes_and_with_nothing_else(tmp_path, text, same):
    before, after = tmp_path / "one" / "script.py", tmp_path / "two" / "script.py"
    for file, content in ((before, '"""Words."""\ndef f(x):\n    return x + 1\n'), (after, text)):
        file.parent.mkdir()
        file.write_text(content)
    assert (imports.fingerprint(before) == imports.fingerprint(after)) == same


def test_rooms_only_use_the_rooms_above_them():
    order = ["data", "metrics", "particles", "attention", "models", "training", "probing", "figures"]
    order += ["simulated", "clustered", "probed", "verify", "atlas"]
    for room in order:
        for source in (imports.PACKAGE / room).rglob("*.py"):
            used = {Path(name).parts[0] for name in names(imports.direct(source)) if "/" in name}
            assert used <= set(order[: order.index(room) + 1]), f"{room}/{source.name} uses {used}"


def test_nothing_that_draws_imports_torch():
    heavy = ("torch", "transformers", "spikingjelly", "timm")
    drawing = [
        *SCRIPTS.glob("plot_*.py"),
        SCRIPTS / "animate_particles.py",
        *(imports.PACKAGE / "simulated").glob("*.py"),
        *(imports.PACKAGE / "clustered").glob("*.py"),
        *(imports.PACKAGE / "probed").glob("*.py"),
    ]
    for script in drawing:
        for source in (script, *imports.closure(script)):
            lines = source.read_text().splitlines()
            bad = [
                line
                for line in lines
                if line.strip().startswith(tuple(f"{kind} {name}" for kind in ("import", "from") for name in heavy))
            ]
            assert not bad, f"{script.name} reaches {source.name}: {bad}"
