"""The import closure names what a script uses, and nothing that it does not."""

from pathlib import Path

from clusterlens import imports

SCRIPTS = imports.PACKAGE.parent


def names(files) -> set[str]:
    return {str(file.relative_to(imports.PACKAGE)) for file in files}


def test_closure_follows_imports_through_the_library():
    found = names(imports.closure(SCRIPTS / "table_configuration.py"))
    assert {"job.py", "provenance.py", "files.py", "figures/configuration.py"} <= found
    assert "config.py" not in found and "figures/style.py" not in found


def test_every_form_of_import_is_seen(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import clusterlens.files\nfrom clusterlens import seeds\nimport numpy\n"
        "def later():\n    from clusterlens.errors import UserError\n"
    )
    assert names(imports.direct(script)) == {"__init__.py", "files.py", "seeds.py", "errors.py"}


def test_every_script_imports_without_being_run():
    for script in SCRIPTS.glob("*.py"):
        assert imports.closure(script), script.name


def test_rooms_only_use_the_rooms_above_them():
    order = ["data", "metrics", "particles", "attention", "models", "training", "probing", "figures", "verify"]
    for room in order:
        for source in (imports.PACKAGE / room).rglob("*.py"):
            used = {Path(name).parts[0] for name in names(imports.direct(source)) if "/" in name}
            assert used <= set(order[: order.index(room) + 1]), f"{room}/{source.name} uses {used}"


def test_nothing_that_draws_imports_torch():
    heavy = ("torch", "transformers", "spikingjelly", "timm")
    for script in SCRIPTS.glob("plot_*.py"):
        for source in (script, *imports.closure(script)):
            lines = source.read_text().splitlines()
            bad = [
                line
                for line in lines
                if line.strip().startswith(tuple(f"{kind} {name}" for kind in ("import", "from") for name in heavy))
            ]
            assert not bad, f"{script.name} reaches {source.name}: {bad}"
