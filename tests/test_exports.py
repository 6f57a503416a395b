"""What is public is exported, once, in order: ``__all__`` is a promise."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import calibrant as cb
from calibrant.contracts.metric import Metric

PACKAGE = Path(cb.__file__).parent
#: The re-exporting modules; every other ``__init__`` holds its folder's docstring and nothing else.
FACES = tuple(
    sorted({"calibrant", *(f"calibrant.{p.parent.name}" for p in PACKAGE.glob("*/__init__.pyi"))})
)


def _module_names():
    names = [m.name for m in pkgutil.walk_packages(cb.__path__, "calibrant.")]
    return ["calibrant", *(n for n in names if not n.endswith("__main__"))]


def _modules():
    return [importlib.import_module(name) for name in _module_names()]


def _isort_style(name):
    """CONSTANTS, then Classes, then functions, each in natural order; the order that ruff keeps."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


@pytest.mark.parametrize("name", _module_names())
def test_all_is_there_sorted_and_true(name):
    module = importlib.import_module(name)
    if hasattr(module, "__path__") and name not in FACES and not hasattr(module, "__all__"):
        body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
        assert all(isinstance(node, ast.Expr) for node in body), (
            f"{name} holds code and has no __all__"
        )
        return
    names = module.__all__
    assert list(names) == sorted(names, key=_isort_style)
    assert len(set(names)) == len(names)
    assert [n for n in names if not hasattr(module, n)] == []


def _classes():
    """Every class defined in calibrant, but for its own test tools."""
    for module in _modules():
        for value in vars(module).values():
            if (
                inspect.isclass(value)
                and value.__module__ == module.__name__
                and not module.__name__.startswith("calibrant.testing")
            ):
                yield value


def _is_template(cls):
    """It leaves a method abstract (isabstract asks for ABCMeta, which the contracts do without)."""
    return any(
        getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in dir(cls)
    )


def _templates():
    return tuple(
        c
        for c in _classes()
        if c.__module__.startswith("calibrant.contracts.") and issubclass(c, BaseEstimator)
    )


def _faces():
    return [importlib.import_module(name) for name in FACES]


def _offered(cls):
    return any(
        getattr(face, cls.__name__, None) is cls and cls.__name__ in face.__all__
        for face in _faces()
    )


def test_the_top_is_small():
    """A newcomer reads it as a list: what does one thing well known, and the packages."""
    assert len(cb.__all__) <= 50


def test_every_calibrator_map_and_signal_is_exported():
    methods = [
        c
        for c in _classes()
        if issubclass(c, _templates()) and not _is_template(c) and not c.__name__.startswith("_")
    ]
    assert len(methods) >= 6
    missing = [f"{c.__module__}.{c.__name__}" for c in methods if not _offered(c)]
    assert missing == [], "add one export line each to the __init__.pyi of its folder"


#: Option -> (its default, the other defaults that docs/guide/where.rst gives reasons for).
DEFAULTS = {
    "level": (0.95, {0.9}),
    "random_state": (0, set()),
    "n_resamples": (1000, {200}),
    "n_draws": (1000, {999, 100, 200}),
    "n_bins": (15, {10, 5, 3, 20, 40, 2**15, 2**16}),
    "cv": (5, {10}),
}


@pytest.mark.parametrize("option", DEFAULTS)
def test_one_idea_has_one_default(option):
    usual, others = DEFAULTS[option]
    found = {
        parameters[option].default
        for face in _faces()
        for value in (getattr(face, name) for name in face.__all__)
        if callable(value)
        for parameters in [inspect.signature(_called(value)).parameters]
        if option in parameters
    } - {inspect.Parameter.empty, None}
    assert usual in found
    assert found <= {usual, *others}


def _called(value):
    return type(value) if isinstance(value, Metric) else value


def test_every_display_is_exported():
    displays = [
        c
        for c in _classes()
        if c.__module__.startswith("calibrant.displays.") and c.__name__.endswith("Display")
    ]
    assert [c.__name__ for c in displays if not _offered(c)] == []


def test_every_metric_is_exported_from_metrics():
    found = {}
    for module in _modules():
        if module.__name__.startswith("calibrant.metrics."):
            found |= {
                name: v
                for name, v in vars(module).items()
                if isinstance(v, Metric) and not name.startswith("_")
            }
    assert len(found) >= 6
    missing = [
        name
        for name, metric in found.items()
        if getattr(cb.metrics, name, None) is not metric or name not in cb.metrics.__all__
    ]
    assert missing == [], "add one export line each to calibrant/metrics/__init__.pyi"


def test_every_metric_class_has_its_instance():
    metrics = [
        c
        for c in _classes()
        if issubclass(c, Metric) and c.__module__.startswith("calibrant.metrics.")
    ]
    classes = {c for c in metrics if not _is_template(c) and not c.__name__.startswith("_")}
    instances = {type(getattr(cb.metrics, name)) for name in cb.metrics.__all__}
    assert {c.__name__ for c in classes - instances} == set()


def test_nothing_is_exported_twice_under_other_names():
    objects = [getattr(cb, name) for name in cb.__all__]
    assert len({id(o) for o in objects}) == len(objects)


@pytest.mark.parametrize(
    "first",
    [
        "calibrant.decisions.certified_settings",
        "calibrant.decisions.decision_threshold",
        "calibrant.decisions",
    ],
)
def test_a_function_is_no_module_though_its_file_has_its_name(first):
    asked = (
        f"import {first}; from calibrant.decisions import certified_settings as c,"
        " decision_threshold as d"
    )
    code = f"{asked}; print(callable(c), callable(d), c.__module__)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == ["True", "True", "calibrant.decisions.certified_settings"]
