"""Order statistics by rows, by hand; and the promise of CV+."""

import numpy as np
import pytest

from calibrant._kernels.conformal import plus_promise, row_statistics


def test_each_row_has_its_own_order_statistic():
    values = np.array([[3.0, 1.0, 2.0, 4.0], [40.0, 30.0, 20.0, 10.0]])
    ones = np.ones(4)
    assert row_statistics(values, ones, 0.6).tolist() == [3.0, 30.0]  # ceil(5 * .6) = 3
    assert row_statistics(values, ones, 0.81).tolist() == [np.inf, np.inf]
    # Weights 1, 3, 1, 1: (6 + 1) * .6 = 4.2 of 3, 4, 5, 6 in the first row and of 1, 2, 5, 6 in the
    # second.
    assert row_statistics(values, np.array([1.0, 3.0, 1.0, 1.0]), 0.6).tolist() == [3.0, 30.0]
    thirds = np.full(4, 0.75)
    assert row_statistics(values, thirds, 0.75).tolist() == [4.0, 40.0]


def test_the_promise_of_cv_plus():
    assert plus_promise(0.9, np.ones(50)) == pytest.approx(0.8)
    assert plus_promise(0.9, np.full(10, 10)) == pytest.approx(0.8 - min(2 * 0.9 / 11, 0.9 / 11))
    assert plus_promise(0.9, np.array([10, 11])) == pytest.approx(0.8 - 2 * 0.5 / (10.5 + 1))
    assert plus_promise(0.4, np.full(10, 10)) == 0.0
