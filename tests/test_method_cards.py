"""The method cards repeat what the arenas' pages say: of calibrators of classes, of maps, and of
error bars.
"""

import sys
from pathlib import Path

import pytest

import calibrant as cb

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def cards(monkeypatch):
    """The module that makes the cards."""
    pytest.importorskip("sphinx", reason="the cards are made while the pages are built")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    yield pytest.importorskip("method_cards")
    for name in ("method_cards", "arena_rows", "calibrant_docs"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("method", "page", "score"),
    [
        (cb.TemperatureScaling, "arena", "log loss"),
        (cb.Platt, "arena", "log loss"),
        (cb.StdScaling, "regression_arena", "CRPS"),
    ],
)
def test_a_card_has_the_cost_and_the_evidence_of_the_arena(cards, method, page, score):
    cost, evidence = cards.measured(method)
    assert " ms (" in cost
    assert f"{score} 0." in evidence
    assert f":doc:`/{page}`" in evidence
    # The number is the table's own.
    row = next(row for _, row in cards.evidence(method.__name__) if row.get(f"win rate, {score}"))
    assert row[f"win rate, {score}"] in evidence


def test_what_does_not_compete_claims_nothing(cards):
    assert cards.measured(cb.GroupCalibrator) == ("", "")
