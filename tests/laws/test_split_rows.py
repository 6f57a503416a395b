"""Rules and models answer a row alone as in any batch; the contract suite holds calibrators, maps,
signals and prediction sets to the same law.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.laws.doors import Line, Odds, drawn, fitted, taken

import calibrant as cb
from calibrant import decisions, monitoring, questions
from calibrant.regression import CovarianceScaling, JointNormalForecast

OLD, NEW = drawn(200, seed=1), drawn(23, seed=2)
Answer = Callable[[Any], Any]


def log_of(d: dict[str, Any]) -> list[dict[str, Any]]:
    """A log of answers, right more often where they are more confident."""
    rows = zip(d["group"].tolist(), d["p"].tolist(), d["y"].tolist(), strict=True)
    return [
        {"question": f"q{q}", "id": i, "probs": {"a": p, "b": 1.0 - p}, "label": "ba"[hit]}
        for i, (q, p, hit) in enumerate(rows)
    ]


@cache
def selective() -> cb.SelectiveClassifier:
    return cb.SelectiveClassifier(0.25, 0.8).fit(OLD["p"], OLD["y"])


@cache
def rules() -> questions.QuestionRules:
    return questions.QuestionRules(0.3, 0.8, unit="log", when_uncertain="answer_none").fit(
        log_of(OLD)
    )


def by_features(model: Any, **names: str) -> Callable[[], Any]:
    return lambda: model.fit(OLD["X"], OLD[names.get("y", "y")])


def joint(d: dict[str, Any]) -> JointNormalForecast:
    return JointNormalForecast(d["two"], np.tile(np.eye(2), (len(d["two"]), 1, 1)))


#: Name -> a fitted object, and what it answers on rows, (n, ...).
ANSWERS: dict[str, tuple[Callable[[], Any], Callable[[Any, dict[str, Any]], Any]]] = {
    "accept": (selective, lambda f, d: f.accept(d["p"])),
    "accept_scores": (selective, lambda f, d: f.accept_scores(d["p"])),
    "decide": (lambda: fitted("rates"), lambda f, d: f.decide(d["p"])),
    "decide_scores": (lambda: fitted("rates"), lambda f, d: f.decide_scores(d["p"])),
    "accepted at a risk": (
        lambda: decisions.ConformalRiskControl(0.15, "accepted_and_wrong").fit(OLD["p"], OLD["y"]),
        lambda f, d: f.accept(d["p"]),
    ),
    "costs": (lambda: decisions.ExpectedCost(abstain=0.3), lambda f, d: f.decide(d["P"])),
    "adapt": (lambda: fitted("shift"), lambda f, d: f.predict_proba(d["P"])),
    "importance": (
        lambda: cb.ImportanceWeights(model=Odds()).fit(OLD["X"], OLD["X"] + 1.0),
        lambda f, d: f.predict(d["X"]),
    ),
    "sets by group": (
        lambda: fitted("sets"),
        lambda f, d: f.predict_set(d["P"], groups=d["group"]),
    ),
    "questions": (rules, lambda f, d: f.decide(log_of(d)) == "answer"),
    "lock of questions": (
        lambda: monitoring.Lock.of(rules()),
        lambda f, d: f.decide(log_of(d), any_model=True) == "answer",
    ),
    "cascade": (
        lambda: questions.QuestionCascade(0.3, 0.8).fit(
            log_of(OLD), log_of(OLD | {"p": 0.03 + 0.94 * OLD["y"]})
        ),
        lambda f, d: f.decide(log_of(d)) == "small",
    ),
    "classifier": (
        by_features(cb.CalibratedClassifier(Odds(), cb.Platt(), cv=3)),
        lambda f, d: f.predict_proba(d["X"]),
    ),
    "regressor": (
        by_features(cb.CalibratedRegressor(Line(), cb.StdScaling(), cv=3), y="outcome"),
        lambda f, d: np.column_stack(f.predict(d["X"], return_std=True)),
    ),
    "conformal regressor": (
        by_features(cb.ConformalRegressor(Line(), cv=3), y="outcome"),
        lambda f, d: np.column_stack(f.predict_interval(d["X"])),
    ),
    "covariance": (
        lambda: CovarianceScaling().fit(joint(OLD), OLD["two_outcomes"]),
        lambda f, d: f.predict(joint(d)).cov,
    ),
    "online": (lambda: fitted("online"), lambda f, d: f.predict_proba(d["p"])),
}


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_a_row_has_one_answer_alone_and_in_any_batch(name: str):
    make, answer = ANSWERS[name]
    rule, rows = make(), np.arange(len(NEW["p"]))
    whole = np.asarray(answer(rule, NEW))
    assert len(np.unique(whole)) > 1, "all rows have one answer, which shows nothing"
    order = np.random.default_rng(0).permutation(rows)
    for parts in (np.split(rows, rows[1:]), [rows[:7], rows[7:15], rows[15:]], [order]):
        result = np.concatenate([answer(rule, taken(NEW, part)) for part in parts])
        np.testing.assert_allclose(result, whole[np.concatenate(parts)], rtol=0.0, atol=1e-12)
