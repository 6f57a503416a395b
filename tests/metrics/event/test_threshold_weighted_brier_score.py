import numpy as np
import pytest

from calibrant import metrics

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)
score = metrics.threshold_weighted_brier_score


def test_over_all_thresholds_it_is_the_brier_score():
    assert score(Y, P) == pytest.approx(metrics.event_brier_score(Y, P), rel=1e-12)
    assert score(Y, P, beta=(1.0, 1.0)) == pytest.approx(metrics.event_brier_score(Y, P), rel=1e-12)


def test_it_is_the_murphy_curve_between_the_thresholds():
    t = np.linspace(0.1, 0.3, 20_001)[:-1] + 0.5e-5
    assert score(Y, P, low=0.1, high=0.3) == pytest.approx(
        0.2 * metrics.murphy_curve(Y, P, thresholds=t).score.mean(), abs=1e-6
    )


def test_what_differs_beyond_the_thresholds_does_not_count():
    assert score(Y, np.where(P > 0.5, 0.99, P), low=0.1, high=0.5) == pytest.approx(
        score(Y, P, low=0.1, high=0.5), rel=1e-12
    )
