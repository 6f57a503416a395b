"""Where exact zeros and ones are put, by hand."""

import numpy as np

from calibrant._kernels.softmax import clipped_log_odds, clipped_logs, inner_limits


def test_without_exact_scores_nothing_is_moved():
    assert inner_limits(np.array([0.2, 0.9]), 10.0) == (1e-12, 1e-12)


def test_zeros_are_half_of_the_smallest_score_otherwise():
    assert inner_limits(np.array([0.0, 0.04, 0.9]), 100.0) == (0.02, 1e-12)
    assert inner_limits(np.array([1e-12, 0.04, 0.9]), 100.0)[0] == 0.02
    assert inner_limits(np.array([1.5e-12, 0.04, 0.9]), 100.0)[0] == 0.02
    # Not below 1 / (2 n^2), and at most a quarter.
    assert inner_limits(np.array([0.0, 1e-9, 0.9]), 100.0)[0] == 0.5 / 100.0**2
    assert inner_limits(np.array([0.0, 1e-9, 0.9]), 100.0, 1.0)[0] == 0.5 / 100.0
    assert inner_limits(np.array([0.0, 0.1]), 1.0)[0] == 0.25


def test_ones_are_half_of_the_smallest_gap_otherwise():
    low, gap = inner_limits(np.array([0.3, 0.96, 1.0]), 100.0)
    np.testing.assert_allclose([low, gap], [1e-12, 0.02])
    np.testing.assert_allclose(inner_limits(np.array([0.3, 0.96, 1.0 - 1.5e-12]), 100.0)[1], 0.02)
    assert inner_limits(np.array([0.3, 1.0 - 1e-9, 1.0]), 100.0)[1] == 0.5 / 100.0**2
    np.testing.assert_allclose(inner_limits(np.array([0.0, 0.25, 1.0]), 100.0), (0.125, 0.375))


def test_where_all_scores_are_exact_there_is_nothing_to_halve():
    assert inner_limits(np.array([0.0, 0.0]), 10.0) == (1e-12, 1e-12)
    assert inner_limits(np.array([1.0, 1.0]), 10.0) == (1e-12, 1e-12)
    assert inner_limits(np.array([0.0, 1.0]), 10.0) == (1e-12, 1e-12)


def test_logs_of_what_is_kept_inside():
    s = np.array([0.0, 0.3, 1.0])
    first, second = clipped_logs(s, (0.1, 0.2))
    np.testing.assert_allclose(first, np.log([0.1, 0.3, 0.8]))
    np.testing.assert_allclose(second, np.log([0.9, 0.7, 0.2]))
    np.testing.assert_allclose(clipped_log_odds(s, (0.1, 0.2)), np.log([0.1 / 0.9, 0.3 / 0.7, 4.0]))
