import numpy as np
import pytest
from sklearn.metrics import d2_log_loss_score, log_loss

from calibrant import metrics

RNG = np.random.default_rng(0)
P = RNG.random(300)
Y = (RNG.random(300) < P).astype(int)


def test_it_is_scikit_learns():
    w = RNG.integers(1, 4, 300)
    assert metrics.d2_log_loss(Y, P) == pytest.approx(d2_log_loss_score(Y, P), rel=1e-12)
    assert metrics.d2_log_loss(Y, P, sample_weight=w) == pytest.approx(
        d2_log_loss_score(Y, P, sample_weight=w), rel=1e-12
    )


def test_by_hand_and_of_the_answer():
    base = -np.log(0.25) / 4 - 0.75 * np.log(0.75)
    p = np.array([0.1, 0.2, 0.1, 0.7])
    assert metrics.d2_log_loss([0, 0, 0, 1], p) == pytest.approx(
        1 - log_loss([0, 0, 0, 1], p) / base
    )
    right, top = ((P > 0.5) == Y).astype(int), np.maximum(P, 1 - P)
    assert metrics.d2_log_loss(Y, P, target="answer") == pytest.approx(
        d2_log_loss_score(right, top), rel=1e-9
    )


def test_certain_and_wrong_is_finite():
    assert np.isfinite(metrics.d2_log_loss([0, 1], [1.0, 0.0]))
