"""Dirichlet calibration: right for Dirichlet predictions, and each penalty holds what it names."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

ALPHA = np.array([[4.0, 1.0, 1.0], [2.0, 3.0, 1.0], [1.0, 1.0, 5.0]])


def _dirichlet(n, seed=0):
    """Predictions of class k follow Dirichlet(ALPHA[k]): the truth is softmax((ALPHA - 1) log p
    + constants).
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    gamma = rng.gamma(ALPHA[y])
    return gamma / gamma.sum(axis=1, keepdims=True), y


def test_recovers_the_parameters_of_dirichlet_predictions():
    P, y = _dirichlet(100_000)
    cal = cb.calibrators.DirichletCalibration(
        off_diagonal=0, intercept=0, diagonal=0, smooth=False
    ).fit(P, y)
    W = cal.matrix_ / cal.temperature_
    # Only differences between rows are determined, on log p whose rows lie on a curve: compare
    # after centring both ways.
    np.testing.assert_allclose(W - W.mean(axis=0), ALPHA - ALPHA.mean(axis=0), atol=0.1)


def test_each_penalty_holds_its_own_part():
    P, y = _dirichlet(300)
    free = cb.calibrators.DirichletCalibration(off_diagonal=0, intercept=0, diagonal=0).fit(P, y)
    held = cb.calibrators.DirichletCalibration(off_diagonal=1e6, intercept=0, diagonal=0).fit(P, y)
    off = ~np.eye(3, dtype=bool)
    assert np.abs(held.matrix_[off]).max() < 1e-4 < np.abs(free.matrix_[off]).max()
    assert np.abs(cb.calibrators.DirichletCalibration(intercept=1e6).fit(P, y).shift_).max() < 1e-4
    assert (
        np.abs(
            cb.calibrators.DirichletCalibration(diagonal=1e9).fit(P, y).matrix_.diagonal() - 1
        ).max()
        < 1e-4
    )


def test_beats_temperature_on_its_own_ground():
    P, y = _dirichlet(3000)
    losses = [
        metrics.log_loss(y[1500:], cal.fit(P[:1500], y[:1500]).predict_proba(P[1500:]))
        for cal in (cb.calibrators.DirichletCalibration(), cb.TemperatureScaling())
    ]
    assert losses[0] < losses[1] - 0.02


def test_a_bad_penalty_is_refused():
    with pytest.raises(cb.errors.InputError, match="intercept must be a finite number"):
        cb.calibrators.DirichletCalibration(intercept=float("inf")).fit([[0.5, 0.5]], [0])
