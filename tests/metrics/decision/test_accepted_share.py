import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def test_by_hand():
    y, p = [1, 0, 1, 1], [0.9, 0.2, 0.6, 0.95]
    assert metrics.accepted_share(y, p) == 1.0
    assert metrics.accepted_share(y, p, threshold=0.7) == 0.75
    assert metrics.accepted_share(y, p, threshold=0.95) == 0.0
    assert metrics.accepted_share(y, p, threshold=0.7, sample_weight=[1, 1, 2, 1]) == 0.6


def test_it_is_what_a_rule_accepts():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(int)
    rule = cb.SelectiveClassifier(0.1).fit(p[:2000], y[:2000])
    assert (
        metrics.accepted_share(y[2000:], p[2000:], threshold=rule.threshold_)
        == rule.accept(p[2000:]).mean()
    )


def test_refuses_a_threshold_that_is_none():
    with pytest.raises(InputError, match="threshold must be"):
        metrics.accepted_share([0], [0.5], threshold=2)
