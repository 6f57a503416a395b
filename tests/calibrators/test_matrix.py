"""Matrix scaling: planted confusions come back, the textbook overfits and the default does not."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import log_softmax, softmax


def _confused(n, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    z = log_softmax(rng.normal(size=(n, n_classes)) * 2)
    mixing = np.eye(n_classes)
    mixing[0, :2] = 0.5
    truth = z @ mixing.T
    return softmax(z), (truth + rng.gumbel(size=z.shape)).argmax(axis=1), softmax(truth)


def test_recovers_planted_probabilities():
    P, y, truth = _confused(60_000)
    cal = cb.calibrators.MatrixScaling().fit(P, y)
    assert cal.status_ == "converged"
    np.testing.assert_allclose(cal.predict_proba(P), truth, atol=0.03)


def test_the_defaults_do_no_harm_where_the_textbook_does():
    P, y, _ = _confused(4000, n_classes=20)

    def loss(cal):
        return metrics.log_loss(y[1000:], cal.fit(P[:1000], y[:1000]).predict_proba(P[1000:]))

    plain = loss(cb.TemperatureScaling())
    assert loss(cb.calibrators.MatrixScaling()) < plain
    assert loss(cb.calibrators.MatrixScaling(ridge=0, off_diagonal=0, smooth=False)) > plain + 0.1


def test_a_large_penalty_is_temperature_scaling():
    P, y, _ = _confused(500)
    held = (
        cb.calibrators.MatrixScaling(ridge=1e9, off_diagonal=1e9, smooth=False)
        .fit(P, y)
        .predict_proba(P)
    )
    np.testing.assert_allclose(held, cb.TemperatureScaling().fit(P, y).predict_proba(P), atol=1e-6)


def test_a_bad_penalty_is_refused():
    with pytest.raises(cb.errors.InputError, match="off_diagonal must be a finite number"):
        cb.calibrators.MatrixScaling(off_diagonal=-1).fit([[0.5, 0.5]], [0])
