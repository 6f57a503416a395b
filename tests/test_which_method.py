"""The page "Which method when": every method that it names exists, and every one is listed."""

import re
import sys
from pathlib import Path

import pytest

import calibrant as cb
from calibrant.core import Calibrator, Map, RegressionCalibrator
from calibrant.core.estimators import offered
from calibrant.core.exports import classes

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "guide" / "which_method.rst").read_text(encoding="utf-8")


@pytest.fixture
def extensions(monkeypatch):
    """The modules that make the page's tables."""
    pytest.importorskip("sphinx", reason="the tables are made while the pages are built")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    yield pytest.importorskip("method_cards"), pytest.importorskip("arena_rows")
    for name in ("method_cards", "arena_rows", "calibrant_docs"):
        sys.modules.pop(name, None)


def test_every_method_named_exists():
    code = " ".join(re.findall(r"``([^`]+)``", PAGE))
    named = set(re.findall(r"(?<![\w.])[A-Z]\w*[a-z]\w*(?=\()|(?<![\w.])(?:[A-Z][a-z]+){2,}", code))
    assert len(named) > 15
    assert named <= set(classes()), named - set(classes())
    for path in re.findall(r"(?<!\w)cb\.([\w.]+)", code):
        value = cb
        for part in path.split("."):
            value = getattr(value, part)


def test_every_offered_calibrator_is_on_the_page(extensions):
    cards, _ = extensions
    questions = re.findall(r"calibrant-which:: (\w+)", PAGE)
    listed = [value for question in questions for *_, value in cards.of_question(question)]
    assert len(listed) == len(set(listed))
    missing = {cls for kind in (Calibrator, Map, RegressionCalibrator) for cls in offered(kind)}
    assert missing <= set(listed)


def test_the_usual_methods_stand_first(extensions):
    cards, _ = extensions
    for question, first in (
        ("classes", "AutoCalibrator"),
        ("regression", "AutoRegressionCalibrator"),
    ):
        names = [name for _, name, _ in cards.of_question(question)]
        common = [value.common for *_, value in cards.of_question(question)]
        assert names[0] == first
        assert common == sorted(common, reverse=True)
        assert 3 <= sum(common) <= 6


def test_every_number_of_the_arena_is_a_cell(extensions):
    _, arena = extensions
    cells = [re.split(r";\s*", one) for one in re.findall(r":arena:`([^`]+)`", PAGE)]
    assert len(cells) >= 10
    for place in cells:
        assert re.fullmatch(r"[\d.,]+(?: %)?", arena.cell(*(" ".join(p.split()) for p in place)))
    # The cell is that of our method, not of the first row of its table.
    assert arena.cell("arena", "Two classes", "TemperatureScaling", "win rate, log loss") != (
        arena.cell("arena", "Two classes", "AutoCalibrator", "win rate, log loss")
    )
