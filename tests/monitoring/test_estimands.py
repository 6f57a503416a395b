import numpy as np
import pytest

import calibrant as cb
from calibrant.core.forecast_record import read_forecast
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.metrics import accuracy, log_loss, root_mean_squared_error
from calibrant.monitoring.estimates import (
    CLASS_METRICS,
    ERROR_METRICS,
    class_estimate,
    error_estimate,
    metric_key,
)
from calibrant.monitoring.expected_outcomes import Moved, class_chances


def rows(seed=0, n=400, m=300):
    rng = np.random.default_rng(seed)
    p = rng.random(n + m)
    y = (rng.random(n + m) < p).astype(int)
    return read(p[:n], y[:n]), read(p[n:]), Moved(np.ones(n), np.ones(m))


def test_metrics_are_named_by_their_keys_or_themselves():
    assert metric_key(accuracy) == "accuracy"
    assert metric_key(root_mean_squared_error) == "rmse"
    assert metric_key("auroc") == "event_auroc"
    assert {*CLASS_METRICS, *ERROR_METRICS} >= {"cost", "mae"}
    with pytest.raises(InputError, match="metric must be one of accuracy"):
        metric_key("ece")


def test_mean_metrics_by_hand():
    old, new, moved = rows()
    chance_old, c = class_chances(old, new, moved, 0)
    r, q, c = old.probabilities[:, 1], new.probabilities[:, 1], c[:, 1]
    # The metric of a row of class 1, and of class 0.
    by_hand = {
        "accuracy": lambda p: (p > 0.5, p <= 0.5),
        "log_loss": lambda p: (-np.log(p), -np.log1p(-p)),
        "event_brier_score": lambda p: ((1.0 - p) ** 2, p**2),
        "cost": lambda p: (np.where(p > 1 / 6, 0.0, 5.0), np.where(p > 1 / 6, 1.0, 0.0)),
    }
    for key, each in by_hand.items():
        costs = [[0.0, 5.0], [1.0, 0.0]] if key == "cost" else None
        found = class_estimate(old, new, key, moved, costs, 0)
        one, zero = each(q)
        plain = np.mean(c * one + (1.0 - c) * zero)
        one, zero = (np.asarray(x, dtype=float) for x in each(r))
        step = (one - zero) * (old.labels - chance_old[:, 1])
        variance = step.var() / len(step)
        kept = step.mean() ** 2 / (step.mean() ** 2 + variance)
        assert found.value == pytest.approx(plain + kept * step.mean())
        assert found.influence @ found.influence == pytest.approx(variance)
        assert found.before == pytest.approx(np.where(old.labels, one, zero).mean())
    brier = class_estimate(old, new, "brier_score", moved, None, 0)
    event = class_estimate(old, new, "event_brier_score", moved, None, 0)
    assert brier.value == pytest.approx(2.0 * event.value)
    found = class_estimate(old, new, "log_loss", moved, None, 0)
    assert found.before == pytest.approx(log_loss(old.labels, old.probabilities))
    # The noise of labels: c (1 - c) times the squared difference of the two losses.
    noise = np.sum(c * (1.0 - c) * (np.log(q) - np.log1p(-q)) ** 2) / len(q) ** 2
    assert found.noise == pytest.approx(noise)
    assert found.spread > found.noise


def test_costs_must_match_the_classes():
    old, new, moved = rows()
    with pytest.raises(InputError, match="costs must be"):
        class_estimate(old, new, "cost", moved, [[1.0, 2.0, 3.0]], 0)


def test_errors_of_forecasts():
    rng = np.random.default_rng(3)
    std = np.exp(0.5 * rng.normal(size=900))
    y = std * rng.normal(size=900)
    old = read_forecast((np.zeros(500), std[:500]), y=y[:500])
    new = read_forecast((np.zeros(400), 2.0 * std[500:]))
    moved = Moved(np.ones(500), np.ones(400))
    for key, each in {"mae": np.abs, "rmse": np.square}.items():
        found = error_estimate(old, new, key, moved, 0)
        before = np.mean(each(y[:500]))
        assert found.before == pytest.approx(before if key == "mae" else np.sqrt(before))
        assert found.value > 1.5 * found.before


def test_the_auroc_of_equal_predictions_has_a_finite_interval():
    y, p = np.tile([0, 1, 1], 50), np.full(150, 0.3)
    found = cb.estimate_performance(p[:90], reference=(p, y), metric="auroc")
    assert found.value == pytest.approx(0.5)
    assert 0.45 < found.low <= 0.5 + 1e-9
    assert 0.5 - 1e-9 <= found.high < 0.55
