"""Accuracy and its interval: exact where few rows are right or wrong, else Wilson's."""

import numpy as np
import pytest
from scipy.stats import binomtest

from calibrant.errors import InputError
from calibrant.metrics import accuracy


def test_hand_worked():
    assert accuracy([0, 1, 2, 2], np.eye(3)[[0, 1, 1, 2]]) == 0.75
    assert accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]], sample_weight=[3, 1]) == 0.75


def test_ties_go_to_the_first_class():
    assert accuracy([0, 0], [[0.5, 0.5], [0.5, 0.5]]) == 1.0
    assert accuracy([1, 1], [0.5, 0.5]) == 0.0


@pytest.mark.parametrize(
    ("right", "n", "method"),
    [(0, 10, "exact"), (3, 10, "exact"), (10, 10, "exact"), (31, 40, "exact"), (25, 40, "wilson")],
)
def test_interval_is_exact_or_wilsons(right, n, method):
    y = np.zeros(n, int)
    P = np.where(np.arange(n)[:, None] < right, [0.9, 0.1], [0.1, 0.9])
    interval = accuracy.interval(y, P)
    expected = binomtest(right, n).proportion_ci(method=method)
    assert (interval.value, interval.method, interval.n) == (right / n, "analytic", float(n))
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_weights_count_as_repetition_in_the_interval():
    a = accuracy.interval([0, 1, 1], [0.1, 0.8, 0.3], sample_weight=[2, 1, 3])
    b = accuracy.interval([0, 0, 1, 1, 1, 1], [0.1, 0.1, 0.8, 0.3, 0.3, 0.3])
    assert a == b


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match='accuracy has no "exact" interval'):
        accuracy.interval([0, 1], [0.1, 0.9], method="exact")
