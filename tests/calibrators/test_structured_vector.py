"""SVS: what the paper minimises, temperature scaling on few rows, and K = 1000."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import log_softmax, softmax
from calibrant._numerics.threads import threads


def _planted(n, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    scale, shift = rng.uniform(0.5, 1.5, n_classes), rng.normal(size=n_classes)
    z = log_softmax(rng.normal(size=(n, n_classes)) * 2)
    return softmax(z), (z * scale + shift + rng.gumbel(size=z.shape)).argmax(axis=1)


def test_it_is_the_minimum_of_the_published_objective():
    P, y = _planted(200)
    cal = cb.calibrators.StructuredVectorScaling().fit(P, y)
    temperature = cb.TemperatureScaling().fit(P, y)
    assert cal.temperature_ == pytest.approx(temperature.temperature_, rel=1e-12)
    z = np.log(200 / 201 * temperature.predict_proba(P) + 1 / (201 * 4))

    def objective(v, b):
        return -log_softmax((1 + v) * z + b)[np.arange(200), y].mean() + 4 / 200 * (v @ v + b @ b)

    best = objective(cal.scale_ - 1, cal.shift_)
    rng = np.random.default_rng(1)
    for _ in range(200):
        dv, db = rng.normal(size=(2, 4)) * 10 ** rng.uniform(-4, 0)
        assert objective(cal.scale_ - 1 + dv, cal.shift_ + db) > best


def test_beats_temperature_on_many_rows_and_stays_near_it_on_few():
    P, y = _planted(6000)
    test_P, test_y = P[3000:], y[3000:]

    def loss(cls, n):
        return metrics.log_loss(test_y, cls().fit(P[:n], y[:n]).predict_proba(test_P))

    assert (
        loss(cb.calibrators.StructuredVectorScaling, 3000)
        < loss(cb.TemperatureScaling, 3000) - 0.05
    )
    assert loss(cb.calibrators.StructuredVectorScaling, 30) < loss(cb.TemperatureScaling, 30) + 0.01


def test_thousand_classes_thousand_rows():
    P, y = _planted(1000, 1000)
    cal = cb.calibrators.StructuredVectorScaling().fit(P, y)
    assert cal.status_ == "converged"
    Q = cal.predict_proba(P)
    assert np.isfinite(np.log(Q)).all()
    assert (
        metrics.log_loss(y, Q)
        <= metrics.log_loss(y, cb.TemperatureScaling().fit(P, y).predict_proba(P)) + 1e-3
    )


def test_the_number_of_threads_changes_no_bit():
    P, y = _planted(3000, 300)
    ends = []
    for n in (1, 3):
        with threads(n):
            ends.append(cb.calibrators.StructuredVectorScaling().fit(P, y).scale_.tobytes())
    assert ends[0] == ends[1]
