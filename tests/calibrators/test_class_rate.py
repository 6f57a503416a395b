"""Conf_1: one rate, with an interval that covers it."""

import numpy as np
import pytest
from scipy import stats

from calibrant.calibrators import ClassRate


def test_rate_and_interval_are_those_of_the_beta_posterior():
    m = ClassRate().fit([0.1, 0.5, 0.9, 0.9], [0, 1, 1, 1], sample_weight=[2, 1, 1, 3])
    assert (m.true_positives_, m.false_positives_) == (5.0, 2.0)
    assert m.predict([0.0, 7.0]).tolist() == [5.5 / 8.0] * 2
    low, high = m.interval([0.0, 7.0], level=0.8)
    assert low == pytest.approx(stats.beta(5.5, 2.5).ppf([0.1, 0.1]))
    assert high == pytest.approx(stats.beta(5.5, 2.5).ppf([0.9, 0.9]))


@pytest.mark.parametrize("rate", [0.07, 0.5, 0.95])
def test_the_interval_covers_the_rate(rate):
    rng = np.random.default_rng(0)
    hits = 0
    for right in rng.binomial(100, rate, 500):
        low, high = (
            ClassRate().fit(np.zeros(2), [0, 1], sample_weight=[100 - right, right]).interval([0.0])
            if 0 < right < 100
            else (0, 1)
        )
        hits += low <= rate <= high
    assert 0.92 <= hits / 500 <= 0.98
