"""Every source file is covered by a test file: one may cover a family, and several may cover one
file.

A file is covered where a test names something that it offers, or where a covered file stands
on it. Every function and metric that the package offers is named in a test itself.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from calibrant._exports import exports

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
#: Tested by the example in its docstring.
DOCTESTS = {"breast_cancer"}
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))


def _module(path):
    return ".".join(("calibrant", *path.relative_to(PACKAGE).with_suffix("").parts))


@cache
def _words():
    """Every word of the tests, but of this file, and of the peers that ``tests/reference``
    compares with.
    """
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__).resolve()]
    files.append(ROOT / "benchmarks" / "metrics" / "peers.py")
    return frozenset(
        re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in files))
    )


@cache
def _sources():
    """Module to what it offers and to the modules that it stands on."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name not in ("__init__.py", "__main__.py", "_exports.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            lists = [
                n.value
                for n in tree.body
                if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"
            ]
            found[_module(path)] = (
                [set(ast.literal_eval(value)) for value in lists],
                set(_imports(path, tree)),
            )
    return found


def _imports(path, tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{name.name}" for name in node.names))
        elif isinstance(node, ast.Constant) and isinstance(
            node.value, str
        ):  # the one table of commands
            yield _module(path.with_name(node.value)) if node.value.isidentifier() else ""


def test_every_source_file_is_covered():
    sources = _sources()
    waiting = [
        name for name, (offered, _) in sources.items() if any(names & _words() for names in offered)
    ]
    covered = set(waiting)
    while waiting:
        name = waiting.pop()
        found = (sources[name][1] & sources.keys()) - covered
        covered |= found
        waiting += sorted(found)
    assert sorted(sources.keys() - covered) == [], "name what they offer in a test"


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.name)
def test_each_function_that_is_offered_is_named_in_a_test(stub):
    package = _module(stub).removesuffix(".__init__")
    functions = {name for name in exports(package) if name[0].islower()}
    assert sorted(functions - _words() - DOCTESTS) == []
