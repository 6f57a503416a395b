import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from calibrant import metrics

RNG = np.random.default_rng(0)
LOGIT = 1.5 * RNG.normal(size=2000)
P = 1 / (1 + np.exp(-LOGIT))
Y = (RNG.random(2000) < 1 / (1 + np.exp(-(0.6 * LOGIT - 0.4)))).astype(int)


def test_slope_equals_logistic_regression():
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(LOGIT[:, None], Y)
    assert metrics.calibration_slope(Y, P) == pytest.approx(fit.coef_[0, 0], abs=1e-5)


def test_the_analytic_interval_is_that_of_the_bootstrap():
    metric = metrics.calibration_slope
    analytic, boot = (
        metric.interval(Y[:600], P[:600]),
        metric.interval(Y[:600], P[:600], method="bootstrap", n_resamples=300),
    )
    assert analytic.method == "analytic"
    assert (analytic.low, analytic.high) == pytest.approx((boot.low, boot.high), abs=0.06)


def test_where_there_is_no_finite_answer_there_is_none():
    for y, p in (([0, 0], [0.2, 0.4]), ([0, 1], [0.5, 0.5])):
        assert np.isnan(metrics.calibration_slope(y, p))
        assert np.isnan(metrics.calibration_slope.interval(y, p).low)


def test_scores_that_separate_the_outcomes_bound_the_slope_on_one_side():
    y, p = [0] * 20 + [1] * 20, np.r_[np.linspace(0.1, 0.4, 20), np.linspace(0.6, 0.9, 20)]
    found = metrics.calibration_slope.interval(y, p)
    assert np.isnan(found.value)
    assert 0.0 < found.low < 20.0
    assert found.high == np.inf
    other = metrics.calibration_slope.interval(y, 1.0 - p)
    assert (other.low, other.high) == (-np.inf, pytest.approx(-found.low, rel=1e-6))
    # The likelihood of a slope half as large is that of other samples: its root is beyond the
    # quantile.
    wider = metrics.calibration_slope.interval(y, p, level=0.99)
    assert wider.low < found.low
