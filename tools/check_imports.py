"""Check the direction of imports inside calibrant, import cycles, and the use of libraries.

Run it as a script on a package folder (default ``src/calibrant``). It prints one line per violation
and exits with 1 if there is any. It reads the sources and imports nothing.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

__all__ = ["ORDER", "Violation", "check_package"]

PACKAGE = "calibrant"

#: A folder (or top module) imports only from itself and from those before it.
ORDER = (
    "errors",
    "_numerics",
    "core",
    "datasets",
    "metrics",
    "calibrators",
    "regression",
    "decisions",
    "tables",
    "audits",
    "monitoring",
    "displays",
    "reporting",
    "export",
    "testing",
    "cli",
    "questions",
    "__main__",
)

#: May import the package's own top (``import calibrant``), which re-exports everything.
ABOVE_TOP = ("testing", "cli")

CORE = ("numpy", "scipy", "sklearn")
NUMERICS_SEE = ("numpy", "scipy")

#: Optional library -> the only folders that may name it, even through ``import_extra``.
ONLY_IN = {
    "matplotlib": ("displays",),
    "jinja2": ("reporting",),
    "click": ("cli", "questions"),
    "rich": ("cli",),
}

#: Optional libraries that a folder may import directly, at any level; elsewhere it is
#: ``import_extra`` inside a function.
DIRECT = {
    "cli": ("click", "rich"),
    "questions": ("click",),
    "tables": ("pandas", "polars", "pyarrow", "duckdb"),
    "displays": ("matplotlib",),
    "reporting": ("jinja2",),
}

#: Direct, but only inside a function, so that importing calibrant loads none of it.
LAZY = ("tables", "displays", "reporting")


@dataclass(frozen=True)
class Violation:
    """An import that breaks a rule."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True)
class _Import:
    """Import of ``module`` on a line.

    ``how`` is "top", "function", "typing" or "extra" (through import_extra).
    """

    module: str
    line: int
    how: str

    @property
    def library(self) -> str:
        return self.module.split(".")[0]


def check_package(root: Path) -> list[Violation]:
    """All violations in the package at ``root``."""
    found = []
    for path in sorted(root.rglob("*.py")):
        folder = _folder(path.relative_to(root))
        for item in _imports(path, root):
            message = _own(folder, item) if item.library == PACKAGE else _foreign(folder, item)
            if message:
                found.append(Violation(path, item.line, message))
    return found + _circles(root)


def _circles(root: Path) -> list[Violation]:
    """The first import cycle, if any; imports inside functions and for types count too."""
    paths = {_module(path, root): path for path in sorted(root.rglob("*.py"))}
    lines = {
        module: {item.module: item.line for item in _imports(path, root, by_name=True)}
        for module, path in paths.items()
    }
    try:
        TopologicalSorter(
            {module: (seen.keys() & paths.keys()) - {module} for module, seen in lines.items()}
        ).prepare()
    except CycleError as error:
        # Modules are sorted before those that import them.
        circle = error.args[1]
        message = (
            f"{' > '.join(reversed(circle))} is a circle of imports; move what both need to a"
            " module before them."
        )
        return [Violation(paths[circle[1]], lines[circle[1]][circle[0]], message)]
    return []


def _module(path: Path, root: Path) -> str:
    """The name under which a file is imported."""
    parts = (PACKAGE, *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def _folder(relative: Path) -> str:
    """ "" for the package's own __init__, else the first folder or the top module's name."""
    if len(relative.parts) > 1:
        return relative.parts[0]
    return "" if relative.stem == "__init__" else relative.stem


def _own(folder: str, item: _Import) -> str | None:
    """The rule that an import from the package itself breaks, if any."""
    if folder == "":
        return None
    if folder not in ORDER:
        return (
            f"{folder} has no place in the order of imports; add it to ORDER in"
            " tools/check_imports.py."
        )
    parts = item.module.split(".")
    target = parts[1] if len(parts) > 1 else ""
    if target == "":
        return (
            None
            if folder in ABOVE_TOP
            else (
                f"{folder} imports the top of {PACKAGE}; import from the module that defines the"
                " name."
            )
        )
    if target not in ORDER:
        return (
            f"{folder} imports {item.module}, which has no place in the order of imports; add it to"
            " ORDER in tools/check_imports.py."
        )
    if folder == target:
        return None
    if folder == "_numerics":
        return f"_numerics imports {item.module}; it takes arrays and sees NumPy and SciPy only."
    if ORDER.index(target) > ORDER.index(folder):
        return (
            f"{folder} imports {item.module}, which comes after it; the order is"
            f" {' > '.join(ORDER)}."
        )
    return None


def _foreign(folder: str, item: _Import) -> str | None:
    """The rule that an import of another library breaks, if any."""
    library = item.library
    if library in sys.stdlib_module_names:
        return None
    if any(part.startswith("_") for part in item.module.split(".")[1:]):
        return f"{item.module} is private to {library}; use its public names."
    if folder == "_numerics" and library not in NUMERICS_SEE:
        return f"_numerics imports {library}; it sees NumPy and SciPy only."
    if library in CORE:
        return None
    if library in ONLY_IN and folder not in ONLY_IN[library]:
        return (
            f"{folder or PACKAGE} imports {library}, which only {' and '.join(ONLY_IN[library])}/"
            " may know."
        )
    if item.how in ("extra", "typing"):
        return None
    if library not in DIRECT.get(folder, ()):
        return (
            f"{folder or PACKAGE} imports {library}, which is optional; use import_extra inside the"
            " function that needs it."
        )
    if item.how == "top" and folder in LAZY:
        return (
            f"{folder} imports {library} at the top of the file; import it inside the function, so"
            " that calibrant loads without it."
        )
    return None


def _imports(path: Path, root: Path, *, by_name: bool = False) -> Iterator[_Import]:
    """The imports of a file.

    ``by_name`` adds the names imported from calibrant's modules, which may be modules themselves.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    here = (PACKAGE, *path.relative_to(root).parent.parts)
    yield from _walk(tree.body, "top", here)
    for node in ast.walk(tree) if by_name else ():
        if isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                yield _Import(f"{node.module}.{name.name}", node.lineno, "name")


def _walk(nodes, how: str, here: tuple[str, ...]) -> Iterator[_Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield _Import(name.name, node.lineno, how)
        elif isinstance(node, ast.ImportFrom):
            yield from _from(node, how, here)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _walk(node.body, "typing", here)
            yield from _walk(node.orelse, how, here)
        else:
            if isinstance(node, ast.Call):
                yield from _extra(node)
            inner = (
                "function"
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                else how
            )
            yield from _walk(ast.iter_child_nodes(node), inner, here)


def _from(node: ast.ImportFrom, how: str, here: tuple[str, ...]) -> Iterator[_Import]:
    base = (
        ".".join((*here[: len(here) - node.level + 1], *filter(None, [node.module])))
        if node.level
        else node.module or ""
    )
    if base == PACKAGE:
        # `from calibrant import errors` names a module; other names come from the top package.
        for name in node.names:
            yield _Import(
                f"{PACKAGE}.{name.name}" if name.name in ORDER else PACKAGE, node.lineno, how
            )
    elif any(name.name.startswith("_") for name in node.names) and base.split(".")[0] != PACKAGE:
        for name in node.names:
            yield _Import(f"{base}.{name.name}", node.lineno, how)
    else:
        yield _Import(base, node.lineno, how)


def _extra(node: ast.Call) -> Iterator[_Import]:
    """The import by ``import_extra("library", ...)`` or ``import_module("library")``, if any."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if (
        name not in ("import_extra", "import_module")
        or not node.args
        or not isinstance(node.args[0], ast.Constant)
    ):
        return
    item = _Import(
        str(node.args[0].value), node.lineno, "extra" if name == "import_extra" else "function"
    )
    if item.library != PACKAGE:
        yield item


def main(arguments: list[str]) -> int:
    """Check the package folder, print the violations, and return the exit code."""
    root = (
        Path(arguments[0])
        if arguments
        else Path(__file__).resolve().parent.parent / "src" / PACKAGE
    )
    if not root.is_dir():
        print(f"{root} is not a folder; pass the package's folder.")
        return 2
    found = check_package(root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
