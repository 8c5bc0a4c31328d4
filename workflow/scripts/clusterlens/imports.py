"""Which library files a script depends on, read from its import statements without running it.

Snakemake tracks a rule's script but not what the script imports; a digest of these files among the rule's parameters
closes the gap. Plumbing shapes no result and is left out, and so are comments and docstrings.
"""

import ast
import hashlib
import re
from functools import cache
from pathlib import Path
from types import CodeType

PACKAGE = Path(__file__).resolve().parent
PLUMBING = {PACKAGE / f"{name}.py" for name in ("cache", "damage", "errors", "files", "job", "logs", "provenance")}

SIBLINGS = (".c", ".html", ".css", ".js")  # a string that ends so and names a file beside the module is a dependency


@cache
def closure(script: Path) -> tuple[Path, ...]:
    """Every file of the library that `script` uses, directly or through other library files, sorted."""
    seen: set[Path] = set()
    waiting = [script]
    while waiting:
        for file in direct(waiting.pop()) - seen - PLUMBING:
            seen.add(file)
            waiting.append(file)
    return tuple(sorted(seen))


def direct(source: Path) -> frozenset[Path]:
    """The library files that one file names: imports, siblings named in a string, and the headers that C includes."""
    return scan(source)[0]


@cache
def fingerprint(*files: Path) -> str:
    """A digest of what these files and the library files behind them compute."""
    behind = {member for file in files for member in (file, *closure(file))}
    lines = (f"{file.name} {scan(file)[1]}" for file in sorted(behind))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def scan(source: Path) -> tuple[frozenset[Path], str]:
    """What a file names and a digest of what it does: Python as compiled, without docstrings and line numbers."""
    text = source.read_text(encoding="utf-8")
    if source.suffix != ".py":
        included = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
        return frozenset((source.parent / name).resolve() for name in included), hashed(text)
    found: set[Path] = set()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value.endswith(SIBLINGS):
                found |= {sibling} if (sibling := source.parent / node.value).is_file() else set()
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found |= files_of(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= files_of(node.module)
            for alias in node.names:
                found |= files_of(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass(lineno=1, col_offset=0)]
    return frozenset(found), hashed(repr(instructions(compile(tree, "", "exec", dont_inherit=True))))


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def files_of(module: str) -> set[Path]:
    """`clusterlens.a.b` as its file (or its package's `__init__`); empty for other packages and for plain names."""
    top, *parts = module.split(".")
    if top != PACKAGE.name:
        return set()
    place = PACKAGE.joinpath(*parts)
    return {file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file() and file != PACKAGE}


def instructions(code: CodeType) -> tuple:
    """What compiled code does: its bytes, names and constants, nested functions and classes included."""
    constants = [instructions(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    ordered = [sorted(map(repr, each)) if isinstance(each, frozenset) else each for each in constants]
    named = code.co_names, code.co_varnames, code.co_freevars
    return code.co_code, named, code.co_flags, code.co_exceptiontable, ordered
