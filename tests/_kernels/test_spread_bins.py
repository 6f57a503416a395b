"""Bins of equal weight by standard deviation, by hand; and the moments of what is drawn."""

import numpy as np

from calibrant._kernels.bins import chi_square_draws, enough_bins, normalised_gap, spread_bins


def test_bins_by_hand():
    std, error, weight = (
        np.array([2.0, 1.0, 1.0, 4.0]),
        np.array([5.0, 1.0, 3.0, 20.0]),
        np.array([1.0, 1.0, 3.0, 3.0]),
    )
    group, mass, variance, mean = spread_bins(std, error, weight, 2)
    assert group.tolist() == [1, 0, 0, 1]
    np.testing.assert_allclose(mass, [4.0, 4.0])
    np.testing.assert_allclose(variance, [1.0, (4.0 + 3 * 16.0) / 4])
    np.testing.assert_allclose(mean, [(1.0 + 9.0) / 4, (5.0 + 60.0) / 4])


def test_the_gap_by_hand():
    found = normalised_gap(np.array([[4.0, 1.0], [1.0, 1.0]]), np.array([[9.0, 0.25], [1.0, 1.0]]))
    np.testing.assert_allclose(found, [0.5, 0.0])


def test_thirty_rows_a_bin():
    assert [enough_bins(10, n) for n in (29, 30, 59, 60, 299, 300, 9000)] == [1, 1, 1, 2, 9, 10, 10]


def test_moments_of_the_draws():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [3, 2001])
    part = np.concatenate([[0.5, 0.3, 0.2], np.full(2001, 1 / 2001)])
    for weight in (np.ones(2004), np.tile([1.0, 3.0], 1002)):
        drawn = chi_square_draws(group, part, weight, 2, 20_000, rng)
        mean = np.bincount(group, part * weight)
        variance = np.bincount(group, 2.0 * part**2 * weight)
        np.testing.assert_allclose(drawn.mean(axis=0), mean, rtol=0.02)
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06)
