import numpy as np
import pytest

from calibrant import metrics


def test_it_is_the_mean_of_the_target():
    P3, y, w = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]), [0, 2], [3, 1]
    assert metrics.mean_risk(y, P3, target=2, sample_weight=w) == pytest.approx(0.4)
    assert metrics.mean_risk(y, P3, target="answer") == pytest.approx(0.55)
    assert metrics.mean_risk([0, 1], [0.1, 0.4]) == pytest.approx(0.25)


def test_its_interval_is_that_of_a_mean():
    p = np.random.default_rng(0).random(400)
    found = metrics.mean_risk.interval(np.zeros(400, dtype=int), p)
    assert found.high - found.value == pytest.approx(1.96 * p.std(ddof=1) / 20, rel=0.05)
