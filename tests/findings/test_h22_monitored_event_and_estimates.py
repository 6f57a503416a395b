"""H22: a monitor watches the event by default; estimates doubt what new class rates explain."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def test_a_monitor_sees_that_the_event_became_rarer():
    rng, monitor = np.random.default_rng(0), cb.monitoring.CalibrationMonitor()
    for day in range(20):
        z = rng.normal(size=200)
        y = (rng.random(200) < sigmoid(z - 0.5 * (day >= 10))).astype(int)
        monitor.update(sigmoid(z), y, time=day)
    assert monitor.alarm_
    assert "risk" in str(monitor.advice())


def test_a_monitor_of_several_classes_watches_the_answer():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 300)
    y = np.array([rng.choice(3, p=p) for p in P])
    one, other = (
        cb.monitoring.CalibrationMonitor(**options).update(P, y)
        for options in ({}, {"target": "answer"})
    )
    assert one.log_evidence_ == other.log_evidence_


def quick() -> cb.ImportanceWeights:
    return cb.ImportanceWeights(model=make_pipeline(StandardScaler(), LogisticRegression()))


def risk(X: np.ndarray) -> np.ndarray:
    return sigmoid(-0.6 + 1.1 * X[:, 0] + 0.5 * X[:, 0] * X[:, 1])


def estimated(seed: int, new_rate: float | None, metric: str) -> cb.monitoring.PerformanceEstimate:
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(1500, 2)), rng.normal(size=(10_000, 2))
    y, later = ((rng.random(len(x)) < risk(x)).astype(int) for x in (X, new))
    if new_rate is not None:
        events = int(new_rate * 750)
        new = np.concatenate([new[later == 1][:events], new[later == 0][: 750 - events]])
    new = new[:750]
    said = [sigmoid(-0.6 + 1.1 * x[:, 0]) for x in (X, new)]
    return cb.estimate_performance(
        said[1], reference=(said[0], y), X=(X, new), metric=metric, importance=quick()
    )


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_estimates_under_new_class_rates_cannot_tell(metric: str):
    states = [estimated(seed, 0.7, metric).state for seed in range(5)]
    assert states.count("cannot tell") >= 4


def test_estimates_without_a_change_hold():
    states = [estimated(seed, None, "accuracy").state for seed in range(5)]
    assert states.count("holds") >= 4
