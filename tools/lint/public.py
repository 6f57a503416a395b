"""Checks that import the package: exports, docstrings, and one word for one idea."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.lint.sources import ROOT

import calibrant as cb
from calibrant import metrics
from calibrant.core.estimators import BaseEstimator
from calibrant.core.exports import faces
from calibrant.core.metric_kinds import Metric
from calibrant.reporting.classification import KEYS
from calibrant.reporting.regression.task import METRICS
from calibrant.tables.kernel import SUMMED

__all__ = ["CHECKS"]

#: Faces whose every name has all sections: methods, metrics, displays and rules.
METHODS = ("calibrators", "decisions", "displays", "metrics", "monitoring", "regression")
TEMPLATES = ("Calibrator", "Map", "Signal", "RegressionCalibrator")
#: Public names beside which nothing stands that a newcomer should know, each with the reason.
ALONE: dict[str, str] = {}
#: The order that numpydoc gives to sections.
ORDER = (
    *("Parameters", "Attributes", "Methods", "Returns", "Yields", "Raises", "Warns", "Warnings"),
    *("See Also", "Notes", "References", "Examples"),
)

# -- Exports --------------------------------------------------------------------------------------


@cache
def _modules() -> dict[str, ModuleType]:
    names = [m.name for m in pkgutil.walk_packages(cb.__path__, "calibrant.")]
    kept = ["calibrant", *(name for name in names if not name.endswith("__main__"))]
    return {name: importlib.import_module(name) for name in kept}


def _isort_style(name: str) -> tuple[int, list[int | str]]:
    """CONSTANTS, then Classes, then functions, each in natural order; the order that ruff keeps."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def true_lists() -> Iterator[str]:
    """``__all__`` is there, sorted and true; only a stubbed package may hold code without one."""
    for name, module in _modules().items():
        if not hasattr(module, "__all__"):
            body = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
            plain = hasattr(module, "__path__") and name not in faces()
            if not plain or not all(isinstance(node, ast.Expr) for node in body):
                yield f"{name}: holds code and has no __all__"
            continue
        listed = list(module.__all__)
        if listed != sorted(set(listed), key=_isort_style):
            yield f"{name}: __all__ must be sorted, each name once"
        for missing in (n for n in listed if not hasattr(module, n)):
            yield f"{name}: __all__ lists {missing}, which is not there"


@cache
def _classes() -> list[type]:
    """Every class defined in calibrant, but for its own test tools."""
    return [
        value
        for name, module in _modules().items()
        if not name.startswith("calibrant.testing")
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == name
    ]


def _is_finished(cls: type) -> bool:
    """It is public, and no method is left abstract (isabstract asks for ABCMeta, which the
    contracts do without).
    """
    members = (getattr(cls, name, None) for name in dir(cls))
    abstract = any(getattr(member, "__isabstractmethod__", False) for member in members)
    return not abstract and not cls.__name__.startswith("_")


def parts_are_exported() -> Iterator[str]:
    """Every calibrator, map, signal and display is offered by a face, and the top is small: a
    newcomer reads it as a list.
    """
    templates = tuple(
        c
        for c in _classes()
        if c.__module__.startswith("calibrant.core.")
        and issubclass(c, BaseEstimator)
        and c is not BaseEstimator
    )
    parts = [c for c in _classes() if issubclass(c, templates) and _is_finished(c)]
    parts += [
        c
        for c in _classes()
        if c.__module__.startswith("calibrant.displays.") and c.__name__.endswith("Display")
    ]
    offered = {id(value) for _, _, value in _offered()}
    for part in parts:
        if id(part) not in offered:
            yield f"{part.__module__}.{part.__name__}: add a line to the stub of its folder"
    objects = [getattr(cb, name) for name in cb.__all__]
    if len(parts) < 50 or len({id(o) for o in objects}) != len(objects) or len(objects) > 50:
        yield "calibrant: at most 50 names, each thing once, and at least 50 parts below"


#: Option -> (its default, the other defaults that docs/guide/where.rst gives reasons for).
DEFAULTS: dict[str, tuple[float, set[float]]] = {
    "level": (0.95, {0.9}),
    "random_state": (0, set()),
    "n_resamples": (1000, {200}),
    "n_draws": (1000, {999, 100, 200}),
    "n_bins": (15, {10, 5, 3, 20, 40, 2**15, 2**16}),
    "cv": (5, {10}),
}


def one_default_for_one_idea() -> Iterator[str]:
    """An option has the default of DEFAULTS wherever it is."""
    seen = set()
    for face, name, value in _offered():
        for option, parameter in inspect.signature(_subject(value)).parameters.items():
            if option in DEFAULTS and parameter.default not in (inspect.Parameter.empty, None):
                usual, others = DEFAULTS[option]
                seen |= {option} if parameter.default == usual else set()
                if parameter.default not in {usual, *others}:
                    yield f"{face}.{name}: {option}={parameter.default!r}; {usual} elsewhere"
    yield from (f"{option}: nothing has its default" for option in DEFAULTS.keys() - seen)


def metrics_are_exported() -> Iterator[str]:
    """Every metric is exported from metrics, and every class of metrics has its instance."""
    known = [getattr(metrics, name) for name in metrics.__all__]
    for module in (m for n, m in _modules().items() if n.startswith("calibrant.metrics.")):
        for name, value in vars(module).items():
            public = isinstance(value, Metric) and not name.startswith("_")
            if public and (name not in metrics.__all__ or getattr(metrics, name) is not value):
                yield f"{module.__name__}.{name}: add an export line to the stub of metrics"
    for cls in _classes():
        ours = issubclass(cls, Metric) and cls.__module__.startswith("calibrant.metrics.")
        if ours and _is_finished(cls) and cls not in map(type, known):
            yield f"{cls.__module__}.{cls.__name__}: has no instance in metrics"


# -- Docstrings -----------------------------------------------------------------------------------


def _subject(value: Any) -> Any:
    """The class of a metric object; anything else is itself."""
    return type(value) if isinstance(value, Metric) else value


def _sections(text: str | None) -> dict[str, str]:
    """Heading -> body, of a numpydoc docstring; the lead under ""."""
    clean = inspect.cleandoc(text or "")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", clean, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@cache
def _exported() -> list[tuple[str, Any]]:
    """The public objects of methods and metrics, each once."""
    found: dict[int, tuple[str, Any]] = {}
    for face in ("calibrant", *(f"calibrant.{name}" for name in METHODS)):
        module = importlib.import_module(face)
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                found.setdefault(id(value), (name, _subject(value)))
    return list(found.values())


def _is_part(value: Any) -> bool:
    kinds = (cb.core.Calibrator, cb.core.Map, cb.core.Signal, Metric)
    return inspect.isclass(value) and issubclass(value, kinds)


def it_starts_with_a_sentence() -> Iterator[str]:
    """The first paragraph of a docstring is one sentence."""
    for name, value in _exported():
        first = _sections(value.__doc__)[""].split("\n\n")[0].replace("\n", " ")
        if not first.endswith((".", ":")):
            yield f"{name}: the first paragraph is one sentence; got {first!r}"


def _documented(body: str) -> set[str]:
    """Names at the margin of a Parameters section, "a, b : type" or "a, b"."""
    heads = re.findall(r"^(\w[\w, *]*?)(?:\s*:.*)?$", body, flags=re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def it_names_its_parameters() -> Iterator[str]:
    """Every parameter is explained."""
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for name, value in _exported():
        if name not in TEMPLATES:
            sections = _sections(value.__doc__)
            body = sections.get("Parameters", "") + sections.get("Attributes", "")
            wanted = inspect.signature(value).parameters.values()
            missing = {p.name for p in wanted if p.kind not in rest} - _documented(body)
            if missing:
                yield f"{name}: does not explain {sorted(missing)}"


def methods_say_when_to_use_them() -> Iterator[str]:
    """A calibrator, map, signal or metric has Notes on when to use it and when not."""
    for name, value in _exported():
        if name not in TEMPLATES and _is_part(value) and "Notes" not in _sections(value.__doc__):
            yield f"{name}: Notes say when to use it and when not"


@cache
def _doctests(module: str) -> dict[str, doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=True)
    return {test.name: test for test in finder.find(importlib.import_module(module))}


def it_has_an_example() -> Iterator[str]:
    """An example runs, and uses the thing by its public name.

    doctest looks at classes and functions only, so a metric's example must live on its class, in
    the module that is collected.
    """
    for name, value in _exported():
        if name in TEMPLATES or (inspect.isclass(value) and not _is_part(value)):
            continue
        test = _doctests(value.__module__).get(f"{value.__module__}.{value.__qualname__}")
        if test is None or not test.examples:
            yield f"{name}: has no example that doctest finds"
        elif name not in (test.docstring or "").split("Examples", 1)[-1]:
            yield f"{name}: the example does not use it by its public name"


@cache
def _offered() -> list[tuple[str, str, Any]]:
    """What every face for newcomers offers, each thing once, at the face it is met first.

    ``errors`` is for those who write parts.
    """
    found: dict[int, tuple[str, str, Any]] = {}
    for face in ("calibrant", "calibrant.tables", *faces()):
        module = importlib.import_module(face)
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                found.setdefault(id(value), (face, name, value))
    return list(found.values())


def _public(name: str, face: str) -> Any:
    """What a See Also in ``face`` names: ``face.name``, else the same of another face (a name may
    have dots); None where nothing public is.
    """
    for start in (face, "calibrant.tables", *faces()):
        *path, last = f"{start}.{name}".split(".")
        package = ".".join(path)
        if package in ("calibrant.tables", *faces()):
            module = importlib.import_module(package)
            if last in module.__all__:
                return getattr(module, last)
    return None


def it_says_where_to_look_next() -> Iterator[str]:
    """A See Also of at most three lines, "name, name : a few words.", of public names."""
    for face, name, value in _offered():
        body = _sections(_subject(value).__doc__).get("See Also", "")
        # A line that is indented goes on from the one before.
        lines = [line for line in body.replace("\n    ", " ").split("\n") if line.strip()]
        if bool(lines) == (name in ALONE) or len(lines) > 3:
            yield f"{name}: a See Also of at most three lines, or a line in ALONE with the reason"
        for line in lines:
            if not re.fullmatch(r"\w[\w.]*(, \w[\w.]*)* : .+\.", line):
                yield f'{name}: "name, name : a few words."; got {line!r}'
            for other in line.split(" : ")[0].split(", "):
                found = _public(other, face)
                if found is None or found is value:
                    yield f"{name}: {other!r} in its See Also is itself or no public name"


def its_sections_stand_in_order() -> Iterator[str]:
    """In numpydoc's order, of public methods too."""
    for _, name, value in _offered():
        own = vars(value).items() if inspect.isclass(value) else ()
        for member in (value, *(m for key, m in own if not key.startswith("_"))):
            headings = [h for h in _sections(_subject(member).__doc__) if h in ORDER]
            if headings != sorted(headings, key=ORDER.index):
                yield f"{name}, {member!r}: {headings}; numpydoc's order is {ORDER}"


# -- One word for one idea ------------------------------------------------------------------------

GUIDE = ROOT / "docs" / "guide" / "vocabulary.rst"
_SCORE_SCALE = "on which scale a signal or map reads the score"
#: A refused word where it means something else, with what it means.
OTHERWISE = {
    ("RowSample", "labels"): "a column of a sample of rows, beside probabilities",
    ("IntervalRun", "coverage"): "observed, beside the level",
    ("SetRun", "coverage"): "the same",
    ("LatentFunctionDisplay", "scores"): "the grid of scores at which the function is drawn",
    ("ErrorCounts.add", "loss"): "what each row loses, an array",
    ("SelectiveClassifier.fit_scores", "loss"): "the same",
    ("CauchyForecast", "scale"): "not the standard deviation, which it does not have",
    ("FastSeparation", "scale"): _SCORE_SCALE,
    ("LabelStability", "scale"): _SCORE_SCALE,
    ("Margin", "scale"): _SCORE_SCALE,
    ("MaximalZone", "scale"): _SCORE_SCALE,
    ("PairwiseSeparation", "scale"): _SCORE_SCALE,
    ("Platt", "scale"): _SCORE_SCALE,
    ("StudentForecast", "scale"): "not the standard deviation, which depends on df too",
    ("pool", "scale"): "on which scale intervals are pooled",
    ("Pooled", "scale"): "the same",
    ("over_sites", "scale"): "the same",
    ("risk_distribution", "scale"): "of an axis",
    ("ReliabilityDisplay", "scale"): "of an axis",
    ("ReliabilityDisplay.from_predictions", "scale"): "of an axis",
    ("ReliabilityDisplay.from_record", "scale"): "of an axis",
    ("ReliabilityDisplay.plot", "scale"): "of an axis",
    ("RiskDistributionDisplay", "scale"): "of an axis",
    ("RiskDistributionDisplay.from_record", "scale"): "of an axis",
    ("audit_transport", "labels"): "of people, beside a judge's scores",
    ("compare_rates", "labels"): "of people, beside a judge's scores",
    ("estimate_rate", "labels"): "of people, beside a judge's scores",
    ("labels_for_width", "labels"): "of people, beside a judge's scores",
    ("read_questions", "probs"): "the usual name of that field in logs",
}


def _own_methods(cls: type) -> Iterator[tuple[str, Any]]:
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        method = getattr(method, "__func__", method)
        ours = inspect.isfunction(method) and method.__module__.startswith("calibrant")
        if ours and not name.startswith("_"):
            yield f"{cls.__name__}.{name}", method


@cache
def _signatures() -> list[tuple[str, list[str]]]:
    """(name, names of the parameters) of everything public that can be called."""
    found: list[tuple[str, Any]] = []
    for module in map(importlib.import_module, ("calibrant.tables", *faces())):
        for value in (_subject(getattr(module, name)) for name in module.__all__):
            if inspect.isclass(value):
                found += [(value.__name__, value), *_own_methods(value)]
            elif inspect.isfunction(value):
                found.append((value.__name__, value))
    return [(name, list(inspect.signature(value).parameters)) for name, value in found]


def one_word_for_one_idea() -> Iterator[str]:
    """No public signature has a word that the guide's table refuses."""
    rows = re.findall(
        r"^   \* - (``.*)\n     - ((?:.|\n)*?)\n     - (.*)$",
        GUIDE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    refused = {word.strip() for *_, words in rows for word in words.split(",")}
    if not {"seed", "rng", "weights", "n_folds", "probs", "loss", "labels"} <= refused:
        yield f"{GUIDE.name}: the table of refused words is not found"
    if len(_signatures()) < 400:
        yield f"calibrant: only {len(_signatures())} signatures are found"
    found = {(name, word) for name, given in _signatures() for word in refused & set(given)}
    for name, word in sorted(found - OTHERWISE.keys()):
        yield f"{name}: {word}: use the word of docs/guide/vocabulary.rst"
    for name, word in sorted(OTHERWISE.keys() - found):
        yield f"{name}: {word}: the exception is no longer needed"


def outcomes_before_predictions() -> Iterator[str]:
    """Outcomes come before predictions in metrics and after them in fit."""
    for name, parameters in _signatures():
        given = [p for p in parameters if p not in ("self", "cls", "metric", "metrics")]
        if "y_true" in given and given[0] != "y_true":
            yield f"{name}: y_true comes first"
        after = given[1:2] and given[1] in ("P", "X", "forecast", "mean")
        if given[:1] == ["y"] and after and name not in ("report", "figure"):
            yield f"{name}: y comes after the predictions"


def no_key_means_two_metrics() -> Iterator[str]:
    """Keys are plain and there once; reports, gates and columns know none of their own."""
    keys = [m.key for n in metrics.__all__ if isinstance(m := getattr(metrics, n), Metric)]
    if len(keys) < 40:
        yield f"calibrant.metrics: only {len(keys)} metrics are found"
    for key in sorted(set(keys)):
        if keys.count(key) > 1 or not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            yield f"{key}: a key is lower case, of one metric only"
    for key in sorted({*KEYS, *METRICS, *SUMMED} - set(keys)):
        yield f"{key}: is the key of no metric"


# -- Pages for those who come from other libraries -------------------------------------------------

#: What every metric takes.
EVERYWHERE = {"sample_weight", "classes", "inputs", "target"}


def _cells() -> Iterator[tuple[str, str]]:
    """(page, code) of everything in the second column."""
    for page in sorted((ROOT / "docs" / "coming_from").glob("*.rst")):
        for line in page.read_text(encoding="utf-8").splitlines():
            row = line.startswith("   ") and line.count(" | ") == 2
            if line.startswith("   ``") or (row and "there | here" not in line):
                for code in re.findall(r"``(.+?)``", line.split(" | ")[1]):
                    yield page.name, code


def _resolve(node: Any) -> Any:
    """What a dotted name stands for, a class for its instance; None for a variable of the
    example.
    """
    if isinstance(node, ast.Call):
        return _resolve(node.func)
    if isinstance(node, ast.Name):
        return {"cb": cb, "metrics": metrics}.get(node.id)
    inside = _resolve(node.value)
    return None if inside is None else getattr(inside, node.attr)


def _unknown_options(node: ast.Call) -> set[str | None]:
    """The options given that what is called does not take."""
    called = _resolve(node.func)
    if called is None:
        return set()
    known = set(inspect.signature(_subject(called)).parameters)
    if not inspect.isclass(called):
        known |= EVERYWHERE
        if "options" in known:
            return set()
    return {keyword.arg for keyword in node.keywords} - known


def promises_of_pages() -> Iterator[str]:
    """Every name and option of ours that the pages for others promise is there."""
    cells = list(_cells())
    pages = len(list((ROOT / "docs" / "coming_from").glob("*.rst")))
    if pages != 7 or len(cells) <= 120:
        yield f"docs/coming_from: {len(cells)} promises on {pages} pages; 120 on 7 at least"
    for page, code in cells:
        seen = code.startswith("cal.")
        for node in ast.walk(ast.parse(code)):
            try:
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    seen |= _resolve(node) is not None
                elif isinstance(node, ast.Call) and (odd := _unknown_options(node)):
                    yield f"{page}: {code}: takes no {sorted(map(str, odd))}"
            except AttributeError as error:
                yield f"{page}: {code}: {error}"
        if not seen:
            yield f"{page}: {code}: names nothing of ours"


CHECKS = (
    true_lists,
    parts_are_exported,
    one_default_for_one_idea,
    metrics_are_exported,
    it_starts_with_a_sentence,
    it_names_its_parameters,
    methods_say_when_to_use_them,
    it_has_an_example,
    it_says_where_to_look_next,
    its_sections_stand_in_order,
    one_word_for_one_idea,
    outcomes_before_predictions,
    no_key_means_two_metrics,
    promises_of_pages,
)
