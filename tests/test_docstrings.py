"""Every public object explains itself: numpydoc sections, all parameters, an example that runs."""

import doctest
import importlib
import inspect
import re

import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.contracts.metric import Metric

TEMPLATES = ("Calibrator", "Map", "Signal", "RegressionCalibrator")


def _exported():
    for face, module in ((cb, "calibrant"), (metrics, "calibrant.metrics")):
        for name in face.__all__:
            value = getattr(face, name)
            if not inspect.ismodule(value):
                yield pytest.param(name, value, id=f"{module}.{name}")


def _subject(value):
    """The class of a metric object; anything else is itself."""
    return type(value) if isinstance(value, Metric) else value


def _sections(text):
    """Heading -> body, of a numpydoc docstring; the lead under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _parameters(value):
    signature = inspect.signature(value)
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.kind not in kinds]


def _documented(body):
    """Names at the margin of a Parameters section, "a, b : type" or "a, b"."""
    heads = re.findall(r"^(\w[\w, *]*?)(?:\s*:.*)?$", body, flags=re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


@pytest.mark.parametrize(("name", "value"), list(_exported()))
def test_it_starts_with_a_sentence(name, value):
    text = _subject(value).__doc__
    assert text, f"{name} has no docstring"
    first = inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ")
    assert first.endswith((".", ":")), f"{name}: the first paragraph is one sentence; got {first!r}"


@pytest.mark.parametrize(("name", "value"), list(_exported()))
def test_it_names_its_parameters(name, value):
    value = _subject(value)
    if name in TEMPLATES:
        return
    sections = _sections(value.__doc__)
    wanted = _parameters(value)
    body = sections.get("Parameters", "") + sections.get("Attributes", "")
    missing = [p for p in wanted if p not in _documented(body)]
    assert missing == [], f"{name} does not explain {missing}"


@pytest.mark.parametrize(("name", "value"), list(_exported()))
def test_methods_say_when_to_use_them(name, value):
    value = _subject(value)
    kinds = (cb.Calibrator, cb.Map, cb.Signal, Metric)
    if name in TEMPLATES or not inspect.isclass(value) or not issubclass(value, kinds):
        return
    assert "Notes" in _sections(value.__doc__), f"{name}: Notes say when to use it and when not"


@pytest.mark.parametrize(("name", "value"), list(_exported()))
def test_its_example_is_collected_as_a_doctest(name, value):
    """doctest looks at classes and functions only, so a metric's example must live on its class, in the module that is collected."""
    value = _subject(value)
    if name in TEMPLATES or (inspect.isclass(value) and not issubclass(value, (cb.Calibrator, cb.Map, cb.Signal, Metric))):
        return
    module = importlib.import_module(value.__module__)
    found = {test.name: test for test in doctest.DocTestFinder(recurse=True).find(module)}
    test = found.get(f"{module.__name__}.{value.__qualname__}")
    assert test is not None, f"{name} has no docstring that doctest finds"
    assert test.examples, f"{name} has no example"
    assert name in test.docstring.split("Examples", 1)[-1], f"the example of {name} does not use it by its public name"


def test_the_suite_collects_doctests_from_the_package(pytestconfig):
    assert pytestconfig.getoption("doctestmodules")
    assert "src" in pytestconfig.getini("testpaths")
