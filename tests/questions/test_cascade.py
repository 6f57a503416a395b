"""Tests of cascades: a path by hand, the promise by simulation, and what is refused."""

from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import binom

from calibrant import load
from calibrant.errors import InputError
from calibrant.questions import QuestionCascade, read_questions


def log(answers, y):
    return read_questions(np.asarray(answers)[:, None], np.asarray(y)[:, None])


def world(rng, n, large=0.03, bend=1.5):
    """(small, large, expected errors of the small model) of yes/no rows; the small model is too
    sure of itself, and the large one is wrong at a constant rate.
    """
    p = rng.beta(4.0, 1.0, n)
    right = np.where(p > 0.5, p, 1.0 - p) ** bend
    y = np.where(rng.random(n) < right, p > 0.5, p <= 0.5).astype(int)
    other = np.where(rng.random(n) < large, 1 - y, y)
    return log(p, y), log(np.where(other == 1, 0.99, 0.01), y), 1.0 - right


def test_the_cheapest_threshold_of_a_path_by_hand():
    n = 1000
    p = np.linspace(0.999, 0.5005, n)
    y = np.ones(n, int)
    y[800:] = 0
    large = np.where(y == 1, 0.9, 0.1)
    found = QuestionCascade(risk=0.05, confidence=0.95, costs=(1.0, 4.0)).fit(
        log(p, y), log(large, y)
    )
    # Errors are those of the small model among its last rows: 800 + k rows make k errors.
    allowed = max(k for k in range(100) if binom.cdf(k, n, 0.05) <= 0.05)
    steps = [round(n * k / 32) for k in range(33)]
    most = max(k for k in steps if k - 800 <= allowed)
    assert found.small_share_ == pytest.approx(most / n, abs=1e-9)
    assert found.cost_ == pytest.approx(1.0 + (1.0 - most / n) * 4.0)
    assert found.certificate_.errors == most - 800
    assert found.decide(log([0.9, 0.51, 0.01], [1, 1, 1])).tolist() == ["small", "large", "small"]


def test_the_risk_of_the_cascade_is_kept_and_money_is_saved():
    broken, saved = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        small, large, _ = world(rng, 600)
        try:
            found = QuestionCascade(risk=0.06, confidence=0.9).fit(small, large)
        except InputError:
            saved.append(0.0)
            continue
        new, _, wrong = world(np.random.default_rng(10_000), 20_000)
        by_small = found.decide(new) == "small"
        broken += (wrong * by_small + 0.03 * ~by_small).mean() > 0.06
        saved.append(1.0 - found.cost_ / 10.0)
    assert broken / 200 <= 0.1 + 3.0 * np.sqrt(0.09 / 200)
    assert np.mean(saved) > 0.1


def test_a_large_model_at_the_risk_is_refused_as_often_as_promised():
    rng, passed = np.random.default_rng(0), 0
    for seed in range(300):
        small, large, _ = world(np.random.default_rng(seed), 300, large=0.1)
        with suppress(InputError):
            QuestionCascade(risk=0.1, confidence=0.9).fit(small, large)
            passed += 1
    with pytest.raises(InputError, match="at least 22 labels are needed"):
        QuestionCascade(risk=0.1, confidence=0.9).fit(*world(rng, 300, large=0.2)[:2])
    assert passed / 300 <= 0.1 + 3.0 * np.sqrt(0.09 / 300)


def test_rows_of_an_item_count_once():
    rng = np.random.default_rng(0)
    rows = [
        {"id": k // 3, "question": str(k % 3), "probs": {"a": 0.8, "b": 0.2}, "label": "a"}
        for k in range(300)
    ]
    rng.shuffle(rows)
    for over, unit in (("rows", "rows"), ("items", "clusters")):
        found = QuestionCascade(risk=0.05, confidence=0.95, over=over).fit(rows, rows)
        assert (found.certificate_.n, found.certificate_.unit) == (100.0, unit)
        assert "one row of each of 100 items" in found.certificate_.method
    assert (found.small_share_, found.cost_) == (1.0, 1.0)


def test_a_small_model_that_saves_nothing_is_not_asked(tmp_path):
    y = np.ones(500, int)
    small, large = log(np.full(500, 0.4), y), log(np.full(500, 0.9), y)
    found = QuestionCascade(costs=(1.0, 2.0)).fit(small, large)
    assert (found.threshold_, found.cost_) == (np.inf, 2.0)
    found.save(tmp_path / "cascade.npz")
    assert load(tmp_path / "cascade.npz").decide(small).tolist() == ["large"] * 500
    assert found.guarantee_.most == 0.05


def test_free_answers_are_right_or_wrong_for_each_model():
    rng = np.random.default_rng(0)
    right = rng.random((2, 400)) < [[0.9], [0.99]]
    logs = [
        [{"id": i, "confidence": 0.9 - 1e-4 * i, "correct": bool(r)} for i, r in enumerate(one)]
        for one in right
    ]
    found = QuestionCascade(risk=0.1, confidence=0.9).fit(*logs)
    assert 0.3 < found.small_share_ < 1.0


def test_what_is_refused():
    y = np.ones(100, int)
    small, topics = log(np.full(100, 0.9), y), {"a": 0.9, "b": 0.1}
    with pytest.raises(InputError, match="must have the same outcomes"):
        QuestionCascade().fit(*([{"probs": topics, "label": name}] * 100 for name in "ab"))
    with pytest.raises(InputError, match="50 of small are not in large, the first is item '50'"):
        QuestionCascade().fit(small, small.take(np.arange(50)))
    with pytest.raises(InputError, match="costs must be"):
        QuestionCascade(costs=(2.0, 1.0)).fit(small, small)
    with pytest.raises(InputError, match="costs must be two numbers"):
        QuestionCascade(costs="ab").fit(small, small)
    with pytest.raises(InputError, match="risk"):
        QuestionCascade(risk=2.0).fit(small, small)
