"""The rank of split conformal prediction is exact where floats are not."""

from fractions import Fraction
from math import ceil

import numpy as np

from calibrant._kernels.order_statistic import conformal_rank, order_statistic


def test_ranks_are_those_of_exact_arithmetic():
    n = np.arange(9, 1000)
    for percent in range(50, 100):
        exact = [ceil((k + 1) * Fraction(percent, 100)) for k in n.tolist()]
        np.testing.assert_array_equal(conformal_rank(n, percent / 100), exact)


def test_mass_repeats_scores_and_too_few_rows_reach_nothing():
    scores, mass = np.array([1.0, 2.0, 5.0]), np.array([10.0, 18.0, 19.0])
    np.testing.assert_array_equal(order_statistic(scores, mass, [0.5, 0.55, 0.9, 0.95, 0.96]), [1.0, 2.0, 2.0, 5.0, np.inf])
    assert order_statistic(np.array([]), np.array([]), 0.5) == np.inf
