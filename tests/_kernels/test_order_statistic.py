"""The rank of split conformal prediction is exact where floats are not."""

from fractions import Fraction
from math import ceil

import numpy as np

from calibrant._kernels.conformal import (
    conformal_rank,
    cumulated,
    order_statistic,
    rows_needed,
    shares,
)


def test_ranks_are_those_of_exact_arithmetic():
    n = np.arange(9, 1000)
    for percent in range(50, 100):
        exact = [ceil((k + 1) * Fraction(percent, 100)) for k in n.tolist()]
        np.testing.assert_array_equal(conformal_rank(n, percent / 100), exact)


def test_mass_repeats_scores_and_too_few_rows_reach_nothing():
    scores, mass = np.array([1.0, 2.0, 5.0]), np.array([10.0, 18.0, 19.0])
    np.testing.assert_array_equal(
        order_statistic(scores, mass, [0.5, 0.55, 0.9, 0.95, 0.96]), [1.0, 2.0, 2.0, 5.0, np.inf]
    )
    assert order_statistic(np.array([]), np.array([]), 0.5) == np.inf


def test_rows_needed_is_the_first_number_that_holds_its_rank():
    for level in (0.01, 0.1, 0.5, 0.75, 0.8, 0.9, 0.95, 0.96, 0.99, 0.999):
        n = np.arange(1, 2000)
        assert rows_needed(level) == n[conformal_rank(n, level) <= n][0]


def test_shares_of_clusters_take_the_least_score_that_holds_the_level():
    weight, cluster = np.ones(6), np.array([0, 0, 0, 1, 1, 2])
    scores, mass = cumulated(np.arange(6.0), shares(weight, cluster))
    np.testing.assert_allclose(mass, [1 / 3, 2 / 3, 1.0, 1.5, 2.0, 3.0])
    # (3 + 1) * level of the mass: 1 is reached by the third score, 1.2 by the fourth.
    assert [
        float(order_statistic(scores, mass, level, shares=True))
        for level in (0.25, 0.3, 0.75, 0.76)
    ] == [2.0, 3.0, 5.0, np.inf]
