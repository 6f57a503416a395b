"""The version of calibrant, and the lazy imports of a package's public names: its stub
``__init__.pyi`` is the only table, also for type checkers.
"""

import importlib
import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = [
    "KINDS",
    "__version__",
    "attach",
    "classes",
    "exports",
    "faces",
    "of_kinds",
    "public_path",
]


__version__ = "0.1.0"

PACKAGE = Path(__file__).resolve().parent.parent
#: Folders of kinds of prediction beside those of core, each imported at its first use. What such a
#: folder offers exists where the folder does: its names, registry, metrics, files and commands.
KINDS = ("questions",)
#: One line of a stub: a name (in parentheses where the line would be too long).
LINE = re.compile(r"^from (\S+) import \(?\s*(\w+) as \w+", re.MULTILINE)


@cache
def exports(package: str) -> dict[str, str]:
    """Map each public name of ``package`` to the module that defines it; a public module maps to
    itself.

    Examples
    --------
    >>> exports("calibrant.calibrators")["Isotonic"], exports("calibrant")["metrics"]
    ('calibrant.calibrators.maps.isotonic', 'calibrant.metrics')
    """
    folder = PACKAGE.joinpath(*package.split(".")[1:])
    stub = (folder / "__init__.pyi").read_text(encoding="utf-8")
    found = {
        name: f"{module}.{name}" if module == package else module
        for module, name in LINE.findall(stub)
    }
    absent = tuple(f"calibrant.{kind}" for kind in KINDS if not (PACKAGE / kind).is_dir())
    return {name: module for name, module in found.items() if not module.startswith(absent)}


def of_kinds(part: str) -> list[ModuleType]:
    """The module ``part`` of every kind whose folder is there.

    Examples
    --------
    >>> of_kinds("no_such_part")
    []
    """
    there = [kind for kind in KINDS if (PACKAGE / kind / f"{part}.py").is_file()]
    return [importlib.import_module(f"calibrant.{kind}.{part}") for kind in there]


@cache
def classes() -> dict[str, str]:
    """Map each public class name of calibrant's packages to the module that defines it.

    Examples
    --------
    >>> classes()["Isotonic"], classes()["LabelStability"]
    ('calibrant.calibrators.maps.isotonic', 'calibrant.calibrators.label_stability')
    """
    found = {name: module for face in faces() for name, module in exports(face).items()}
    return {name: found[name] for name in sorted(found) if name[0].isupper()}


def public_path(name: str) -> str | None:
    """The first public location of a name, the top level before the packages; None if it is not
    public.

    Examples
    --------
    >>> public_path("Isotonic"), public_path("Spline"), public_path("np")
    ('calibrant.Isotonic', 'calibrant.calibrators.Spline', None)
    """
    return next((f"{face}.{name}" for face in faces() if name in exports(face)), None)


@cache
def faces() -> list[str]:
    """The packages with a stub, the top first."""
    folders = sorted(stub.parent for stub in PACKAGE.rglob("__init__.pyi"))
    return [".".join(("calibrant", *folder.relative_to(PACKAGE).parts)) for folder in folders]


def attach(
    package: str, keyed: bool = False
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of the package, from its stub (PEP 562).

    Parameters
    ----------
    package : ``__name__`` of its ``__init__``
    keyed : bool, default False
        Whether its objects have a ``key``, which the error on a missing name leads from to theirs.
    """
    table = exports(package)
    public = [name for name in table if not name.startswith("_")]

    def get(name: str) -> Any:
        if name not in table:
            named = public if keyed and not name.startswith("_") else ()
            places = [n for n in named if getattr(get(n), "key", None) == name]
            meant = f"; did you mean cb{package[9:]}.{places[0]}?" if places else _suggestion(name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{meant}")
        module = importlib.import_module(table[name])
        value = (
            _offered(module, name) if table[name] == f"{package}.{name}" else getattr(module, name)
        )
        setattr(sys.modules[package], name, value)
        return value

    class Face(ModuleType):
        """Package with a public function named like its module: importing the module does not hide
        it.
        """

        def __setattr__(self, name: str, value: Any) -> None:
            within = isinstance(value, ModuleType) and table.get(name) == value.__name__
            super().__setattr__(name, _offered(value, name) if within else value)

    sys.modules[package].__class__ = Face
    return (
        get,
        lambda: sorted({*vars(sys.modules[package]), *table}),
        sorted(public, key=lambda name: (name[0].islower(), name)),
    )


def _suggestion(name: str) -> str:
    """The place of a name that another package offers, or of the most similar public name."""
    if name.startswith("_"):
        return ""
    places = {n: f"cb{face[9:]}.{n}" for face in reversed(faces()) for n in exports(face)}
    longer = sorted((place for place in places if place.startswith(name)), key=len)
    starts = {place[: len(name) + 1]: place for place in sorted(places, reverse=True)}
    close = get_close_matches(name, [*places, *starts], n=1, cutoff=0.8)
    near = longer or [starts.get(one, one) for one in close]
    return "".join(f"; did you mean {places[n]}?" for n in near[:1])


def _offered(module: ModuleType, name: str) -> Any:
    """The object that a module defines under the module's name, or the module."""
    return vars(module).get(name, module)
