"""The reference opens with the names that most people need, and lists every public name once."""

import sys
from pathlib import Path

import pytest

import calibrant as cb

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def sections(monkeypatch):
    """{heading: names} of the reference, in order."""
    pytest.importorskip("sphinx", reason="the reference is made while the pages are built")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    docs = pytest.importorskip("calibrant_docs")
    yield (
        {heading: [(path, name) for path, name, _ in rows] for heading, rows in docs.sections()},
        {(path, name) for path, name, _ in docs.exported()},
    )
    sys.modules.pop("calibrant_docs", None)


def test_it_opens_with_what_people_need(sections):
    heading, rows = next(iter(sections[0].items()))
    assert heading == "Start here"
    names = [name for _, name in rows]
    assert names[:3] == ["report", "AutoCalibrator", "CalibratedClassifier"]
    assert all(hasattr(cb, name) for name in names)


def test_the_metrics_open_with_the_proper_scores(sections):
    names = [name for _, name in sections[0]["Metrics"]]
    assert names[:2] == ["log_loss", "brier_score"]
    assert len(names) > 100


def test_every_name_stands_once(sections):
    found, every = sections
    listed = [row for rows in found.values() for row in rows]
    assert len(listed) == len(set(listed))
    assert set(listed) == every


def test_each_section_opens_with_the_names_declared_for_it(sections, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    from calibrant_docs import OPENING

    for heading, names in OPENING.items():
        assert [name for _, name in sections[0][heading]][: len(names)] == list(names)


def test_every_section_holds_something(sections):
    assert [heading for heading, rows in sections[0].items() if not rows] == []
