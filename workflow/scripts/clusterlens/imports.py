"""Which library files a script depends on, read from its import statements without running it.

Snakemake tracks a rule's script but not what the script imports; these files, as inputs of the rule, close the gap.
"""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@cache
def closure(script: Path) -> tuple[Path, ...]:
    """Every file of the library that `script` imports, directly or through other library files, sorted."""
    seen: set[Path] = set()
    waiting = [script]
    while waiting:
        for module in direct(waiting.pop()):
            if module not in seen:
                seen.add(module)
                waiting.append(module)
    return tuple(sorted(seen))


@cache
def direct(source: Path) -> frozenset[Path]:
    """The library files named by the import statements of one source file, wherever in it they stand."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= files_of(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= files_of(node.module)
            for alias in node.names:
                found |= files_of(f"{node.module}.{alias.name}")
    return frozenset(found)


def files_of(module: str) -> set[Path]:
    """`clusterlens.a.b` as its file (or its package's `__init__`); empty for other packages and for plain names."""
    top, *parts = module.split(".")
    if top != PACKAGE.name:
        return set()
    place = PACKAGE.joinpath(*parts)
    return {file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file() and file != PACKAGE}
