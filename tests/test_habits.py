"""Short files, short functions, no drawers. Exceptions are named in pyproject.toml, each with
its reason.
"""

import ast
import tomllib
from pathlib import Path

from tools.measure import reaches

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
HABITS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["calibrant"][
    "habits"
]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def _lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def _name(path):
    return path.relative_to(PACKAGE).as_posix()


def _functions(path):
    """(name, lines of the body without the docstring) of each function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            yield f"{_name(path)}::{node.name}", length


def test_files_are_short():
    long = {_name(p): _lines(p) for p in SOURCES if _lines(p) > HABITS["max_file_lines"]}
    assert {n: v for n, v in long.items() if n not in HABITS["long_files"]} == {}
    assert sorted(set(HABITS["long_files"]) - set(long)) == [], (
        "exceptions that are no longer needed"
    )


def test_functions_are_short():
    long = {
        name: length
        for p in SOURCES
        for name, length in _functions(p)
        if length > HABITS["max_function_lines"]
    }
    assert {n: v for n, v in long.items() if n not in HABITS["long_functions"]} == {}
    assert sorted(set(HABITS["long_functions"]) - set(long)) == [], (
        "exceptions that are no longer needed"
    )


def test_no_file_is_a_drawer():
    drawers = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert [_name(p) for p in SOURCES if p.name in drawers] == []


def test_test_folders_are_not_packages():
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_warnings_point_at_the_users_line():
    """By ``calibrant.errors.warn``, which finds it; a stack level counted by hand is wrong after
    the next change.
    """
    assert [
        _name(p)
        for p in SOURCES
        if "warnings.warn(" in p.read_text(encoding="utf-8") and _name(p) != "errors.py"
    ] == []


#: Reaches for another object's underscore, by folder: what is reached for, and why it is justified.
#: Everything else goes by level 2.
JUSTIFIED = {
    "contracts": {
        "metric._check": "the template checks the options of the copy of itself that it just made"
    },
    "errors": {"sys._getframe": "the only way to the user's line, which a warning must name"},
    "forecasts": {
        "out._mean": "a forecast of its own class, made without the checks",
        "out._std": "the same",
        "out._set": "the same",
        "QuantileForecast._like": "a second constructor of the class itself",
    },
    "frames": {
        "table._meta": "dask offers no other way to the types of an empty part",
        "ence._sums": "the sums that tables of any size add up, in the metric's own cells",
        "ence._cell": "the same",
    },
    "maps": {"out._set_rate": "a map of its own class, one for each group"},
    "testing": {"type(m)._examples": "the hook is there for the contract suite"},
}


def test_nobody_reaches_for_anothers_underscore():
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for reach in reaches(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(_name(path).partition("/")[0].removesuffix(".py"), []).append(reach)
    assert {folder: sorted(all_) for folder, all_ in found.items()} == {
        folder: sorted(why) for folder, why in JUSTIFIED.items()
    }


#: Files that import a module by its name, and why.
BY_NAME = {
    "_exports.py": "faces import a name when it is first asked for",
    "_support/extras.py": "libraries of others that may be missing",
    "_support/registry.py": "the class of a saved file, by the one table of names",
    "cli/group.py": (
        "one module a command, by the one table of commands, none loaded before it is run"
    ),
    "frames/engines/choosing.py": "one module an engine, none loaded before it is needed",
    "testing/containers.py": "libraries of others that may be missing",
}


def test_no_class_is_looked_up_by_a_string():
    """Which would get round the check of imports."""
    texts = {_name(path): path.read_text(encoding="utf-8") for path in SOURCES}
    assert {
        name for name, text in texts.items() if "import_module" in text or "__import__" in text
    } == set(BY_NAME)
    assert [name for name, text in texts.items() if "sys.modules" in text] == ["_exports.py"]


#: Packages older than the rule that new ones are checked strictly; the list only gets shorter
#: (2026-11-22).
OLD_PACKAGES = (
    "_kernels",
    "_support",
    "cli",
    "comparison",
    "confidence",
    "datasets",
    "displays",
    "folds",
    "forecasts",
    "frames",
    "frames/engines",
    "maps",
    "metrics",
    "metrics/curves",
    "metrics/regression",
    "models",
    "monitoring",
    "neighbors",
    "predictions",
    "regression",
    "reporting",
    "reporting/regression",
    "scalings",
    "select",
    "signals",
    "testing",
    "wrap",
)


def test_new_packages_are_checked_strictly():
    """A folder is named under [tool.pyright] strict, itself or one above it, unless it is among
    the old ones.
    """
    strict = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "pyright"
    ]["strict"]
    assert all((ROOT / path).exists() for path in strict)
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in SOURCES} - {"."}
    checked = {
        f for f in folders if any(f"src/calibrant/{f}/".startswith(f"{path}/") for path in strict)
    }
    assert folders - checked == set(OLD_PACKAGES)
