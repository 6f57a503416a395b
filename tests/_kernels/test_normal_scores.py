"""Increasing functions of a standard normal, against integrals and by hand."""

import numpy as np
from scipy import integrate, stats

from calibrant._kernels.normal_scores import (
    central,
    empirical_scores,
    interpolate,
    invert,
    line_moments,
    tail_slopes,
)

KNOTS = np.array([-1.5, -0.2, 0.4, 1.1])


def test_moments_are_integrals():
    values, low, high = (
        np.array([[-3.0, -1.0, 0.5, 4.0], [0.0, 0.1, 0.2, 9.0]]),
        np.array([0.7, 0.2]),
        np.array([2.0, 0.5]),
    )
    mean, variance = line_moments(KNOTS, values, low, high)
    for row in range(2):

        def g(z, row=row):
            return interpolate(z, KNOTS, values[row], np.array([low[row], high[row]]))[0]

        points = {"points": KNOTS, "limit": 200}
        first = integrate.quad(lambda z: float(g(z)) * stats.norm.pdf(z), -9, 9, **points)[0]
        second = integrate.quad(
            lambda z, first=first: (float(g(z)) - first) ** 2 * stats.norm.pdf(z), -9, 9, **points
        )[0]
        np.testing.assert_allclose([mean[row], variance[row]], [first, second], rtol=1e-7)


def test_a_straight_line_is_a_normal_distribution():
    mean, variance = line_moments(
        KNOTS, (3.0 + 2.0 * KNOTS)[None], np.array([2.0]), np.array([2.0])
    )
    np.testing.assert_allclose([mean[0], variance[0]], [3.0, 4.0])
    # Far in a tail masses are differences of small numbers.
    far = np.array([9.0, 9.5])
    np.testing.assert_allclose(
        line_moments(far, far[None] * 2.0, np.array([2.0]), np.array([2.0])),
        [[0.0], [4.0]],
        atol=1e-12,
    )


def test_values_between_and_beyond_the_knots_by_hand():
    values, slopes = np.array([0.0, 2.0, 3.0]), np.array([5.0, 7.0])
    out, slope = interpolate(
        [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0], np.array([0.0, 1.0, 3.0]), values, slopes
    )
    np.testing.assert_allclose(out, [-5.0, 0.0, 1.0, 2.0, 2.5, 3.0, 10.0])
    np.testing.assert_allclose(slope, [5.0, 5.0, 2.0, 2.0, 0.5, 0.5, 7.0])
    np.testing.assert_allclose(
        invert(out, np.array([0.0, 1.0, 3.0]), values, slopes), [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]
    )
    one, slope = interpolate([0.0, 2.0], np.array([1.0]), np.array([4.0]), slopes)
    assert (one.tolist(), slope.tolist()) == ([-1.0, 11.0], [5.0, 7.0])


def test_tail_slopes_by_hand():
    assert tail_slopes(np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0, 9.0])).tolist() == [
        1.5,
        3.0,
    ]
    assert tail_slopes(np.array([0.0, 1.0, 4.0]), np.array([0.0, 2.0, 8.0])).tolist() == [2.0, 2.0]
    assert tail_slopes(np.array([0.0, 2.0]), np.array([1.0, 4.0])).tolist() == [1.5, 1.5]
    assert tail_slopes(np.array([3.0]), np.array([1.0])).tolist() == [1.0, 1.0]


def test_scores_stand_at_the_middle_of_their_mass():
    knots, values = empirical_scores(np.array([2.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    assert values.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(stats.norm.cdf(knots), [0.125, 0.625])


def test_the_central_level():
    np.testing.assert_allclose(
        central(np.array([-1.959963984540054, 0.0, 1.0])), [0.95, 0.0, 0.6826894921370859]
    )
