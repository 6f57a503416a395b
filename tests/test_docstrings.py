"""Every public object explains itself: numpydoc sections, all parameters, an example that runs."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import calibrant as cb
from calibrant.contracts.metric import Metric

TEMPLATES = ("Calibrator", "Map", "Signal", "RegressionCalibrator")
#: What newcomers read: every package with a stub, and frames. ``testing`` and ``errors`` are for
#: those who write parts.
FACES = (
    "calibrant",
    "calibrant.frames",
    *sorted(f"calibrant.{p.parent.name}" for p in Path(cb.__file__).parent.glob("*/__init__.pyi")),
)
#: Faces whose every name has all sections: methods, metrics, displays and rules.
METHODS = (
    "confidence",
    "decisions",
    "displays",
    "forecasts",
    "maps",
    "metrics",
    "monitoring",
    "regression",
    "scalings",
    "signals",
    "wrap",
)
#: Public names beside which nothing stands that a newcomer should know, each with the reason.
ALONE: dict[str, str] = {}
#: The order that numpydoc gives to sections.
ORDER = (
    "Parameters",
    "Attributes",
    "Methods",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "Warnings",
    "See Also",
    "Notes",
    "References",
    "Examples",
)


def _exported():
    """What the faces of methods and metrics offer, each thing once."""
    found = {}
    for face in ("calibrant", *(f"calibrant.{name}" for name in METHODS)):
        module = importlib.import_module(face)
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                found.setdefault(id(value), pytest.param(name, value, id=f"{face}.{name}"))
    return list(found.values())


def _offered():
    """What every face offers, each thing once, at the face it is met first."""
    found = {}
    for face in FACES:
        module = importlib.import_module(face)
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                found.setdefault(id(value), pytest.param(face, name, value, id=f"{face}.{name}"))
    return list(found.values())


def _public(name, face):
    """What a See Also in ``face`` names: ``face.name``, else the same of another face (a name may
    have dots); None where nothing public is.
    """
    for start in (face, *FACES):
        *modules, last = f"{start}.{name}".split(".")
        path = ".".join(modules)
        if path in FACES and last in importlib.import_module(path).__all__:
            return getattr(importlib.import_module(path), last)
    return None


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
    kinds = (cb.contracts.Calibrator, cb.contracts.Map, cb.contracts.Signal, Metric)
    if name in TEMPLATES or not inspect.isclass(value) or not issubclass(value, kinds):
        return
    assert "Notes" in _sections(value.__doc__), f"{name}: Notes say when to use it and when not"


@pytest.mark.parametrize(("name", "value"), list(_exported()))
def test_its_example_is_collected_as_a_doctest(name, value):
    """doctest looks at classes and functions only, so a metric's example must live on its class,
    in the module that is collected.
    """
    value = _subject(value)
    if name in TEMPLATES or (
        inspect.isclass(value)
        and not issubclass(
            value, (cb.contracts.Calibrator, cb.contracts.Map, cb.contracts.Signal, Metric)
        )
    ):
        return
    module = importlib.import_module(value.__module__)
    found = {test.name: test for test in doctest.DocTestFinder(recurse=True).find(module)}
    test = found.get(f"{module.__name__}.{value.__qualname__}")
    assert test is not None, f"{name} has no docstring that doctest finds"
    assert test.examples, f"{name} has no example"
    assert name in test.docstring.split("Examples", 1)[-1], (
        f"the example of {name} does not use it by its public name"
    )


@pytest.mark.parametrize(("face", "name", "value"), _offered())
def test_it_says_where_to_look_next(face, name, value):
    lines = _sections(_subject(value).__doc__).get("See Also", "").split("\n")
    # A line that is indented goes on from the one before.
    entries = [line for line in "\n".join(lines).replace("\n    ", " ").split("\n") if line.strip()]
    assert bool(entries) != (name in ALONE), (
        f"{name}: a See Also, or a line in ALONE with the reason"
    )
    assert len(entries) <= 3, f"{name}: at most three lines; got {len(entries)}"
    for line in entries:
        assert re.fullmatch(r"\w[\w.]*(, \w[\w.]*)* : .+\.", line), (
            f'{name}: "name, name : a few words."; got {line!r}'
        )
        for other in line.split(" : ")[0].split(", "):
            found = _public(other, face)
            assert found is not None, f"{name}: no public name {other!r}"
            assert found is not value, f"{name} names itself"


@pytest.mark.parametrize(("face", "name", "value"), _offered())
def test_its_sections_stand_in_order(face, name, value):
    members = (
        [value]
        if not inspect.isclass(value)
        else [value, *(m for key, m in vars(value).items() if not key.startswith("_"))]
    )
    for member in members:
        headings = [
            heading for heading in _sections(_subject(member).__doc__ or "") if heading in ORDER
        ]
        assert headings == sorted(headings, key=ORDER.index), (
            f"{name}, {member!r}: {headings}; numpydoc's order is {ORDER}"
        )


def test_the_suite_collects_doctests_from_the_package(pytestconfig):
    assert pytestconfig.getoption("doctestmodules")
    assert "src" in pytestconfig.getini("testpaths")
