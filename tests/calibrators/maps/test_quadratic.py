"""Quadratic scaling: planted curves come back, and the monotone one never falls."""

import numpy as np
import pytest

import calibrant as cb
from calibrant._numerics.logistic import sigmoid


def _planted(n, b, w1, w2, seed=0):
    rng = np.random.default_rng(seed)
    logit = rng.uniform(-3, 3, n)
    return sigmoid(logit), (rng.random(n) < sigmoid(b + w1 * logit + w2 * logit**2)).astype(int)


def test_recovers_a_planted_curve():
    score, correct = _planted(60_000, -0.3, 1.2, 0.15)
    m = cb.calibrators.QuadraticScaling().fit(score, correct)
    assert m.status_ == "converged"
    assert (m.intercept_, m.linear_, m.quadratic_) == pytest.approx((-0.3, 1.2, 0.15), abs=0.06)


def test_a_calibrated_model_stays_calibrated():
    score, correct = _planted(20_000, 0.0, 1.0, 0.0)
    assert (
        np.abs(cb.calibrators.QuadraticScaling().fit(score, correct).predict(score) - score).max()
        < 0.02
    )


def test_the_monotone_curve_is_the_best_that_does_not_fall():
    score, correct = _planted(3000, 0.0, 0.5, 0.4)
    m = cb.calibrators.QuadraticScaling().fit(score, correct)
    grid = m.predict(np.linspace(0, 1, 2001))
    assert (np.diff(grid) >= 0).all()
    loss = -np.log(np.where(correct == 1, m.predict(score), 1 - m.predict(score))).mean()
    platt = cb.Platt().fit(score, correct).predict(score)
    assert loss < -np.log(np.where(correct == 1, platt, 1 - platt)).mean() - 0.01


def test_a_free_curve_says_where_it_turns():
    score, correct = _planted(3000, 0.0, 0.5, 0.4)
    with pytest.warns(cb.errors.FitWarning, match="turning point at log-odds -0"):
        m = cb.calibrators.QuadraticScaling(monotone=False).fit(score, correct)
    assert m.quadratic_ == pytest.approx(0.4, abs=0.1)


def test_a_large_ridge_is_platt_on_the_logit():
    score, correct = _planted(500, 0.2, 0.7, 0.0)
    m, platt = (
        cb.calibrators.QuadraticScaling(ridge=1e9).fit(score, correct),
        cb.Platt().fit(score, correct),
    )
    np.testing.assert_allclose(m.predict(score), platt.predict(score), atol=1e-6)


def test_a_bad_ridge_is_refused():
    with pytest.raises(cb.errors.InputError, match="ridge must be a finite number"):
        cb.calibrators.QuadraticScaling(ridge=-1).fit([0.5], [1])


def test_one_vs_rest_serves_binary_and_many_classes():
    rng = np.random.default_rng(1)
    P = rng.dirichlet([1.0, 1.0, 1.0], 3000)
    truth = P**2 / (P**2).sum(axis=1, keepdims=True)
    y = (truth.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    assert (
        np.abs(
            cb.OneVsRest(cb.calibrators.QuadraticScaling()).fit(P, y).predict_proba(P) - truth
        ).mean()
        < 0.3 * np.abs(P - truth).mean()
    )
    score, correct = _planted(3000, 0.5, 1.5, 0.0)
    binary = (
        cb.OneVsRest(cb.calibrators.QuadraticScaling()).fit(score, correct).predict_proba(score)
    )
    np.testing.assert_allclose(
        binary[:, 1],
        cb.calibrators.QuadraticScaling().fit(score, correct).predict(score),
        atol=1e-12,
    )
