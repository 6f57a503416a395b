import numpy as np
import pytest
from sklearn.metrics import r2_score

from calibrant import metrics

RNG = np.random.default_rng(0)
P = RNG.random(300)
Y = (RNG.random(300) < P).astype(int)


def test_it_is_r_squared_of_the_outcome():
    w = RNG.integers(1, 4, 300)
    assert metrics.d2_brier(Y, P) == pytest.approx(r2_score(Y, P), rel=1e-12)
    assert metrics.d2_brier(Y, P, sample_weight=w) == pytest.approx(
        r2_score(Y, P, sample_weight=w), rel=1e-12
    )
    assert metrics.d2_brier([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]) == pytest.approx(1 - 0.15 / 0.75)


def test_one_pass_gives_it_with_the_others():
    found = metrics.compute(
        [metrics.d2_brier, metrics.event_brier_score, metrics.observed_expected_ratio], Y, P
    )
    assert found["d2_brier"] == pytest.approx(
        1 - found["event_brier_score"] / (Y.mean() * (1 - Y.mean())), rel=1e-12
    )
