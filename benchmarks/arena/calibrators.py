"""Our calibrators, found by themselves: what calibrant exports, and each map one against the
rest. A new export is in the arena.
"""

import ast
import hashlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["LEFT_OUT", "LIMITS", "Limit", "Method", "code_of", "discovered", "without_words"]

#: Exported, but not something that takes (P, y) and competes, each with the reason.
LEFT_OUT = {
    "LabelShift": "needs the class frequencies of another set",
    "CalibratedClassifier": "wraps a model",
    "OneVsRest": "entered once for each map",
    "OneVsRest(ClassRate)": "a constant for each class; made to be used per predicted class",
}


@dataclass(frozen=True)
class Limit:
    """Runs that a method does not enter because of its time: more classes, or calibration rows ×
    classes, than this.
    """

    reason: str
    classes: int = 10**9
    cells: int = 10**12

    def allows(self, n, n_classes):
        """Whether the method enters a run."""
        return n_classes <= self.classes and n * n_classes <= self.cells


#: The folders whose code makes a method; what stands beside them changes nothing that is measured.
METHOD_FOLDERS = (
    "_numerics",
    "core",
    "signals",
    "maps",
    "scalings",
    "regression",
    "confidence",
    "wrap",
    "select",
)

#: name -> time limit, where one is needed.
LIMITS: dict[str, Limit] = {}


@dataclass(frozen=True)
class Method:
    """A competitor: ``make()`` gives an object with ``fit(P, y)`` and ``predict_proba(P)``."""

    name: str
    make: Callable
    source: str = "calibrant"
    limit: Limit | None = None
    code: str = ""

    def enters(self, n, n_classes):
        """Whether it takes a run of n rows and K classes."""
        return self.limit is None or self.limit.allows(n, n_classes)


def discovered():
    """Every exported calibrator that needs predictions and labels only, and each exported map
    that takes scores in [0, 1].
    """
    import calibrant as cb
    from calibrant.core.estimators import offered

    methods = []
    for cls in (*offered(cb.core.Calibrator), *offered(cb.core.Map)):
        name = cls.__name__
        if issubclass(cls, cb.core.Map):
            name, make, made_of = f"OneVsRest({name})", _one_vs_rest(cls), (cb.OneVsRest, cls)
        elif (
            issubclass(cls, cb.core.Calibrator)
            and not cls().tags.uses_features
            and cls().tags.output != "distribution"
        ):
            make, made_of = cls, (cls,)
        else:
            continue
        if name not in LEFT_OUT:
            methods.append(Method(name, make, limit=LIMITS.get(name), code=code_of(*made_of)))
    return methods


def _one_vs_rest(cls):
    import calibrant as cb

    return lambda: cb.OneVsRest(cls())


def code_of(*classes):
    """A fingerprint of the files that classes are made of, through their imports, words aside:
    results of older code are made anew.
    """
    root, digest, seen = Path(inspect.getfile(_package())).parent, hashlib.sha1(), set()
    todo = [Path(inspect.getfile(cls)) for cls in classes]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        todo += _imported(root, path)
    for path in sorted(seen):
        digest.update(_code_in(path))
    return digest.hexdigest()[:12]


@cache
def _imported(root, path):
    """The files of methods that a file imports."""
    names = re.findall(r"from calibrant\.([\w.]+) import", path.read_text(encoding="utf-8"))
    files = (
        root.joinpath(*name.split(".")).with_suffix(".py")
        for name in names
        if name.split(".")[0] in METHOD_FOLDERS
    )
    return [file for file in files if file.exists()]


@cache
def _code_in(path):
    return without_words(path.read_text(encoding="utf-8")).encode()


def without_words(source):
    """The syntax tree of a source, without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def _package():
    import calibrant

    return calibrant
