import numpy as np
import pytest
from scipy.stats import binomtest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def test_by_hand_and_its_exact_interval():
    y, p = [1, 0, 1, 0], [0.9, 0.2, 0.6, 0.95]
    assert metrics.selective_risk(y, p) == 0.25
    found = metrics.selective_risk.interval(y, p, threshold=0.7, level=0.9)
    exact = binomtest(1, 3).proportion_ci(0.9, method="exact")
    assert (found.value, found.low, found.high) == pytest.approx((1 / 3, exact.low, exact.high))
    assert np.isnan(metrics.selective_risk(y, p, threshold=0.95))


def test_it_is_the_error_rate_of_what_a_rule_accepts():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(int)
    rule = cb.SelectiveClassifier(0.1).fit(p[:2000], y[:2000])
    accepted = rule.accept(p[2000:])
    wrong = ((p[2000:] > 0.5) != y[2000:])[accepted]
    assert metrics.selective_risk(y[2000:], p[2000:], threshold=rule.threshold_) == wrong.mean()


def test_refuses_a_threshold_that_is_none():
    with pytest.raises(InputError, match="threshold must be"):
        metrics.selective_risk([0], [0.5], threshold=-1)
