"""F9: on constant scores quadratic scaling fitted the rounding error; and maximum likelihood
could not be had.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

import calibrant as cb


def test_f09_constant_scores_keep_their_slope():
    m = cb.calibrators.QuadraticScaling().fit([0.7] * 30, [1] * 20 + [0] * 10)
    low, at, high = m.predict([0.6, 0.7, 0.8])
    assert low < at < high
    assert at == pytest.approx(2 / 3, abs=0.02)
    np.testing.assert_allclose(
        [low, at, high],
        cb.Platt().fit([0.7] * 30, [1] * 20 + [0] * 10).predict([0.6, 0.7, 0.8]),
        atol=1e-6,
    )


def test_f09_maximum_likelihood_without_ridge_and_smoothing():
    rng = np.random.default_rng(2)
    logit = np.r_[3.0 * rng.normal(size=200), 9.0]
    y = (rng.random(201) < 1.0 / (1.0 + np.exp(-(0.2 + 0.9 * logit - 0.03 * logit**2)))).astype(
        float
    )
    score = 1.0 / (1.0 + np.exp(-logit))

    def loss(theta):
        z = theta[0] + theta[1] * logit + theta[2] * logit**2
        return np.sum(np.logaddexp(0.0, z) - y * z)

    best = minimize(
        loss,
        [0.0, 1.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000},
    ).x
    m = cb.calibrators.QuadraticScaling(monotone=False, ridge=0.0, smoothing=False).fit(score, y)
    assert (m.intercept_, m.linear_, m.quadratic_) == pytest.approx(tuple(best), abs=1e-5)


def test_f09_separable_scores_are_smoothed_all_the_same():
    m = cb.calibrators.QuadraticScaling(ridge=0.0, smoothing=False).fit(
        [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]
    )
    assert m.status_ == "separable"
    assert 0.05 < m.predict([0.1])[0] < m.predict([0.9])[0] < 0.95
