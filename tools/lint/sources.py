"""Checks that read the sources: files, functions, and tests that name what is public."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.check_imports import ORDER
from tools.measure import reaches

from calibrant.core.exports import exports, faces

__all__ = ["CHECKS", "PACKAGE", "ROOT", "trees"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "calibrant"

#: Tested by the example in its docstring.
DOCTESTS = {"breast_cancer"}

DRAWERS = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}

#: Reaches for another object's underscore, by folder: what is reached for, and why it is justified.
#: Everything else goes by level 2.
JUSTIFIED = {
    "core": {
        "metric._check": "the template checks the options of the copy of itself that it just made",
        "out._mean": "a forecast of its own class, made without the checks",
        "out._std": "the same",
        "out._set": "the same",
        "QuantileForecast._like": "a second constructor of the class itself",
    },
    "errors": {"sys._getframe": "the only way to the user's line, which a warning must name"},
    "tables": {
        "table._meta": "dask offers no other way to the types of an empty part",
        "ence._sums": "the sums that tables of any size add up, in the metric's own cells",
        "ence._cell": "the same",
    },
    "calibrators": {"out._set_rate": "a map of its own class, one for each group"},
    "testing": {"type(m)._examples": "the hook is there for the contract suite"},
}

#: Files that look whether a module is loaded.
LOADED = {"core/estimators.py", "core/exports.py", "errors.py"}
#: Files that import a module by its name, and why.
BY_NAME = {
    "core/exports.py": "faces import a name when it is first asked for",
    "core/domain.py": "the parts of a kind of prediction, each loaded when it is first used",
    "core/extras.py": "libraries of others that may be missing",
    "core/estimators.py": "the class of a saved file, by the one table of names",
    "cli/group.py": (
        "one module a command, by the one table of commands, none loaded before it is run"
    ),
    "tables/engines/choosing.py": "one module an engine, none loaded before it is needed",
    "testing/containers.py": "libraries of others that may be missing",
}

#: Packages older than the rule that new ones are checked strictly; the list only gets shorter
#: (2026-11-22).
OLD_PACKAGES = {
    "_numerics",
    "calibrators",
    "calibrators/maps",
    "cli",
    "core",
    "displays",
    "metrics",
    "metrics/curves",
    "monitoring",
    "regression",
    "reporting",
    "reporting/regression",
    "tables",
    "tables/engines",
    "testing",
}


@cache
def settings() -> dict:
    """The settings in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def trees() -> dict[str, tuple[str, ast.Module]]:
    """Text and tree of each source file, by its name inside the package."""
    out = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        out[path.relative_to(PACKAGE).as_posix()] = text, ast.parse(text)
    return out


def _module(name: str) -> str:
    return ".".join(("calibrant", *Path(name).with_suffix("").parts))


def _exceptions(what: str, long: dict[str, int], most: int, named: dict) -> Iterator[str]:
    for name, lines in long.items():
        if name not in named:
            yield f"{name}: {lines} lines; a {what} has at most {most}"
    for name in sorted(set(named) - set(long)):
        yield f"pyproject.toml: {name} is no longer long; take the exception out"


def short_files() -> Iterator[str]:
    """Files have at most the lines that pyproject.toml says, or an exception there."""
    habits = settings()["tool"]["calibrant"]["habits"]
    lines = {name: len(text.splitlines()) for name, (text, _) in trees().items()}
    most = habits["max_file_lines"]
    long = {name: n for name, n in lines.items() if n > most}
    yield from _exceptions("file", long, most, habits["long_files"])


def short_functions() -> Iterator[str]:
    """Functions, without their docstrings, likewise."""
    habits = settings()["tool"]["calibrant"]["habits"]
    most, long = habits["max_function_lines"], {}
    for name, (_, tree) in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if lines > most:
                    long[f"{name}::{node.name}"] = lines
    yield from _exceptions("function", long, most, habits["long_functions"])


def no_drawers() -> Iterator[str]:
    """No file is a drawer, and folders of tests are no packages."""
    for name in trees():
        if Path(name).name in DRAWERS:
            yield f"{name}: a file is named by its subject"
    for path in (ROOT / "tests").rglob("__init__.py"):
        yield f"{path.relative_to(ROOT)}: a folder of tests is no package"


def warnings_at_the_users_line() -> Iterator[str]:
    """By ``errors.warn``, which finds it; a stack level counted by hand is wrong after the next
    change.
    """
    for name, (text, _) in trees().items():
        if "warnings.warn(" in text and name != "errors.py":
            yield f"{name}: warn by calibrant.errors.warn"


def own_underscores() -> Iterator[str]:
    """Nobody reaches for another object's underscore."""
    found: dict[str, list[str]] = {}
    for name, (_, tree) in trees().items():
        found.setdefault(name.partition("/")[0].removesuffix(".py"), []).extend(reaches(tree))
    for folder in found.keys() | JUSTIFIED.keys():
        reached, justified = sorted(found.get(folder, ())), sorted(JUSTIFIED.get(folder, ()))
        if reached != justified:
            yield f"{folder}: reaches for {reached}; justified, once each, are {justified}"


def no_class_by_a_string() -> Iterator[str]:
    """Which would get round the check of imports."""
    for name, (text, _) in trees().items():
        if ("import_module" in text or "__import__" in text) != (name in BY_NAME):
            yield f"{name}: imports by a name and is not in BY_NAME, or the other way round"
        if ("sys.modules" in text) != (name in LOADED):
            yield f"{name}: only {', '.join(sorted(LOADED))} look into sys.modules"


def strict_packages() -> Iterator[str]:
    """A folder is named under [tool.pyright] strict, itself or one above it, unless it is old."""
    strict = settings()["tool"]["pyright"]["strict"]
    yield from (f"{path}: is not there" for path in strict if not (ROOT / path).exists())
    folders = {Path(name).parent.as_posix() for name in trees()} - {"."}
    checked = {f for f in folders if any(f"src/calibrant/{f}/".startswith(f"{p}/") for p in strict)}
    for folder in sorted((folders - checked) ^ OLD_PACKAGES):
        yield f"{folder}: name it under [tool.pyright] strict, or take it out of OLD_PACKAGES"


def folders_in_order() -> Iterator[str]:
    """Every folder and module has its place in the order of imports."""
    places = {name.partition("/")[0].removesuffix(".py") for name in trees()}
    for name in sorted(places - {"__init__", "__main__"} - set(ORDER)):
        yield f"{name}: has no place in tools/check_imports.py"


@cache
def words_of_tests() -> frozenset[str]:
    """Every word of the tests, and of the peers that ``tests/reference`` compares with."""
    files = [*(ROOT / "tests").rglob("*.py"), ROOT / "benchmarks" / "metrics" / "peers.py"]
    text = " ".join(path.read_text(encoding="utf-8") for path in files)
    return frozenset(re.findall(r"\w+", text))


def _offered(tree: ast.Module) -> list[set[str]]:
    """Every list assigned to ``__all__``."""
    return [
        set(ast.literal_eval(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]


def _imported(name: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # The one table of commands.
            yield (
                _module(str(Path(name).with_name(node.value))) if node.value.isidentifier() else ""
            )


def covered_files() -> Iterator[str]:
    """A test names something that each file offers, or a covered file stands on it."""
    skipped = ("__init__.py", "__main__.py", "exports.py")
    sources = {
        _module(name): (_offered(tree), set(_imported(name, tree)))
        for name, (_, tree) in trees().items()
        if Path(name).name not in skipped
    }
    words = words_of_tests()
    waiting = [name for name, (offered, _) in sources.items() if any(o & words for o in offered)]
    covered = set(waiting)
    while waiting:
        found = (sources[waiting.pop()][1] & sources.keys()) - covered
        covered |= found
        waiting += sorted(found)
    for name in sorted(sources.keys() - covered):
        yield f"{name}: name what it offers in a test"


def tested_functions() -> Iterator[str]:
    """Each function that is offered is named in a test."""
    for face in faces():
        functions = {name for name in exports(face) if name[0].islower()}
        for name in sorted(functions - words_of_tests() - DOCTESTS):
            yield f"{face}.{name}: name it in a test"


def doctests_are_collected() -> Iterator[str]:
    """Pytest is told to run the examples of the package."""
    options = settings()["tool"]["pytest"]["ini_options"]
    if "--doctest-modules" not in options["addopts"] or "src" not in options["testpaths"]:
        yield "pyproject.toml: pytest must collect doctests from src"


def readme() -> Iterator[str]:
    """The README opens with its question, fits two screens, and leads somewhere."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if not text.split("\n\n")[1].startswith("**When your model says 90 %"):
        yield "README.md: must open with its question"
    parts = [text.find(f"\n## {what}") for what in ("Install", "Try it", "What do you have?")]
    if -1 in parts or parts != sorted(parts):
        yield "README.md: must install, show a block that runs, and name what people have"
    if len(text.splitlines()) > 90:
        yield "README.md: at most 90 lines"
    for target in re.findall(r"\]\((?!http)([^)]+)\)", text):
        if not (ROOT / target).exists():
            yield f"README.md: {target} is not there"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^\$ make (\S+)", text, flags=re.MULTILINE):
        if not re.search(rf"^{command}:", makefile, flags=re.MULTILINE):
            yield f"README.md: make {command} is no command"


CHECKS = (
    short_files,
    short_functions,
    no_drawers,
    warnings_at_the_users_line,
    own_underscores,
    no_class_by_a_string,
    strict_packages,
    folders_in_order,
    covered_files,
    tested_functions,
    doctests_are_collected,
    readme,
)
