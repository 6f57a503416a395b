"""The intercept of the fit with a slope, which is another number than that with the slope held
at 1.
"""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calibrant import metrics

joint = metrics.joint_calibration_intercept
RNG = np.random.default_rng(0)
L = RNG.normal(-2, 1.5, 2000)
P, Y = expit(L), (RNG.random(2000) < expit(-0.4 + 0.6 * L)).astype(int)


def test_it_is_the_unpenalised_logistic_regression():
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(L[:, None], Y)
    assert joint(Y, P) == pytest.approx(fit.intercept_[0], abs=1e-6)
    assert metrics.calibration_slope(Y, P) == pytest.approx(fit.coef_[0, 0], abs=1e-6)


def test_two_levels_by_hand():
    # 2 of 10 events at one risk, 7 of 10 at the other: the line through their log-odds.
    y, p = np.repeat([1, 0, 1, 0], [2, 8, 7, 3]), np.repeat([0.1, 0.6], 10)
    slope = (logit(0.7) - logit(0.2)) / (logit(0.6) - logit(0.1))
    assert joint(y, p) == pytest.approx(logit(0.2) - slope * logit(0.1), abs=1e-9)


def test_a_model_that_is_right_on_the_whole_may_have_one():
    y = (RNG.random(2000) < expit(0.5 * L - 0.93)).astype(int)
    shift = metrics.calibration_in_the_large(y, P)
    right = expit(L + shift)
    assert metrics.calibration_in_the_large(y, right) == pytest.approx(0.0, abs=1e-9)
    assert joint(y, right) < -0.5


def test_its_interval_holds_the_planted_one_and_is_that_of_the_bootstrap():
    found, boot = joint.interval(Y, P), joint.interval(Y, P, method="bootstrap", n_resamples=200)
    assert found.low < -0.4 < found.high
    assert (found.low, found.high) == pytest.approx((boot.low, boot.high), abs=0.08)


def test_where_the_likelihood_has_no_maximum_there_is_none():
    assert np.isnan(joint([0, 0], [0.2, 0.4]))
    assert np.isnan(joint.interval([0, 1], [0.2, 0.4]).low)


def test_the_interval_covers():
    rng = np.random.default_rng(1)

    def draw():
        logits = rng.normal(-1, 1.5, 400)
        return (rng.random(400) < expit(0.3 + 0.7 * logits)).astype(int), expit(logits)

    draws = [joint.interval(*draw()) for _ in range(300)]
    assert np.mean([d.low <= 0.3 <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)
