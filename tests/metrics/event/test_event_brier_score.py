import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from calibrant import metrics

RNG = np.random.default_rng(0)
P = RNG.random(500)
Y = (RNG.random(500) < P**2).astype(int)


def test_it_is_scikit_learns_and_half_of_the_sum_over_classes():
    assert metrics.event_brier_score(Y, P) == pytest.approx(brier_score_loss(Y, P), rel=1e-12)
    assert metrics.event_brier_score(Y, P) == pytest.approx(
        metrics.brier_score(Y, P) / 2, rel=1e-12
    )


def test_one_class_of_three_against_the_rest():
    P3 = RNG.dirichlet(np.ones(3), 200)
    y = RNG.integers(0, 3, 200)
    assert metrics.event_brier_score(y, P3, target=1) == pytest.approx(
        brier_score_loss(y == 1, P3[:, 1]), rel=1e-12
    )
    total = sum(metrics.event_brier_score(y, P3, target=k) for k in range(3))
    assert total == pytest.approx(metrics.brier_score(y, P3), rel=1e-12)


def test_the_interval_covers():
    p = np.linspace(0.02, 0.6, 200)
    truth, rng = p**1.3, np.random.default_rng(1)
    true = np.mean(truth * (1 - p) ** 2 + (1 - truth) * p**2)
    draws = [
        metrics.event_brier_score.interval((rng.random(200) < truth).astype(int), p)
        for _ in range(400)
    ]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )
