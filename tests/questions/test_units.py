"""Tests of units of a log: counts by hand, edges, and p-values of dependent rows."""

import numpy as np
import pytest
from scipy.stats import binom

from calibrant.decisions.units import Unit
from calibrant.questions import QuestionRules, read_questions
from calibrant.questions.rules import units_of


def test_units_of_rows_items_and_a_log_by_hand():
    P = np.array([[0.9, 0.6], [0.9, 0.9], [0.7, 0.9]])
    record = read_questions(P, np.array([[1, 1], [0, 1], [1, 1]]))
    levels, q = np.array([[0.8], [0.8]]), record.question.index
    both = list(units_of(record, levels, "question", q, real=True))
    assert [(one.n, one.m.tolist(), one.e.tolist()) for one in both] == [
        (3.0, [2.0], [1.0]),
        (3.0, [2.0], [0.0]),
    ]
    (items,) = units_of(record, levels, "item", q, real=True)
    assert (items.n, items.m.tolist(), items.e.tolist()) == (3.0, [1.0], [1.0])
    (log,) = units_of(record, levels, "log", q, real=True)
    assert (log.n, log.m.tolist(), log.e.tolist()) == (3.0, [2.0], [0.5])
    (said,) = units_of(record, levels, "item", q, real=False)
    assert said.e[0] == pytest.approx(1.0 - 0.9 * 0.9)


def test_one_row_an_item_is_the_exact_binomial_test():
    wrong = np.arange(60)[:, None] < np.array([0, 1, 5])
    one = Unit.of(np.ones_like(wrong), wrong, np.arange(60), np.ones(60))
    assert one.p_values(0.1, 0.05, np.ones(3)) == pytest.approx(binom.cdf([0, 1, 5], 60, 0.1))
    assert one.broken(0.05, 0.05, np.ones(3)) == pytest.approx(binom.sf([-1, 0, 4], 60, 0.05))


@pytest.mark.parametrize("rows", [1, 4, 20])
@pytest.mark.parametrize("common", [0.0, 1.0])
def test_p_values_hold_for_dependent_rows_of_items_of_any_size(rows, common):
    """Errors at a rate of just the risk, alone or the same in all rows of an item."""
    false = broken = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(80), rng.integers(1, rows + 1, 80))
        shared = (rng.random(80) < 0.1)[item]
        wrong = np.where(rng.random(len(item)) < common, shared, rng.random(len(item)) < 0.1)
        one = Unit.of(np.ones((len(item), 1)), wrong[:, None], item, np.ones(len(item)))
        false += one.p_values(0.1, 0.1, np.ones(1))[0] <= 0.1
        broken += one.broken(0.1, 0.1, np.ones(1))[0] <= 0.1
    assert max(false, broken) / 400 <= 0.1 + 3.0 * np.sqrt(0.09 / 400)


def test_independent_rows_of_an_item_all_count():
    """300 items of ten rows with an error rate of .08; one row of each would prove .1 in 40 %."""
    proved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(300), 10)
        wrong = rng.random(3000) < 0.08
        one = Unit.of(np.ones((3000, 1)), wrong[:, None], item, np.ones(3000))
        proved += one.p_values(0.1, 0.1, np.ones(1))[0] <= 0.1
    assert proved >= 28


def test_repeated_answers_to_a_question_are_no_further_labels():
    rng = np.random.default_rng(1)
    p = rng.beta(8.0, 1.0, 400)
    right = rng.random(400) < p
    once = [
        {"id": i, "confidence": a, "correct": bool(b)}
        for i, (a, b) in enumerate(zip(p, right, strict=True))
    ]
    rules = QuestionRules(risk=0.1, confidence=0.9).fit([row for row in once for _ in range(5)])
    (one,) = rules.certificates_.values()
    assert (one.n, one.unit) == (2000.0, "rows")
    (alone,) = QuestionRules(risk=0.1, confidence=0.9).fit(once).certificates_.values()
    assert one.accepted <= 5 * alone.accepted
