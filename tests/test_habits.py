"""Short files, short functions, no drawers. Exceptions are named in pyproject.toml, each with its reason."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
HABITS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["calibrant"]["habits"]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def _lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def _name(path):
    return path.relative_to(PACKAGE).as_posix()


def _functions(path):
    """(name, lines without the docstring) of each function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                length -= node.body[0].end_lineno - node.body[0].lineno + 1
            yield f"{_name(path)}::{node.name}", length


def test_files_are_short():
    long = {_name(p): _lines(p) for p in SOURCES if _lines(p) > HABITS["max_file_lines"]}
    assert {n: v for n, v in long.items() if n not in HABITS["long_files"]} == {}
    assert sorted(set(HABITS["long_files"]) - set(long)) == [], "exceptions that are no longer needed"


def test_functions_are_short():
    long = {name: length for p in SOURCES for name, length in _functions(p) if length > HABITS["max_function_lines"]}
    assert {n: v for n, v in long.items() if n not in HABITS["long_functions"]} == {}
    assert sorted(set(HABITS["long_functions"]) - set(long)) == [], "exceptions that are no longer needed"


def test_no_file_is_a_drawer():
    drawers = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert [_name(p) for p in SOURCES if p.name in drawers] == []


def test_test_folders_are_not_packages():
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_warnings_point_at_the_users_line():
    """By ``calibrant.errors.warn``, which finds it; a stack level counted by hand is wrong after the next change."""
    assert [_name(p) for p in SOURCES if "warnings.warn(" in p.read_text(encoding="utf-8") and _name(p) != "errors.py"] == []
