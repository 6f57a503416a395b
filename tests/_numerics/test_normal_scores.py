"""Increasing functions of a standard normal, against integrals and by hand."""

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from calibrant._numerics import normal_scores as ss
from calibrant._numerics.normal_scores import (
    DEGREES,
    TABLE,
    central,
    empirical_scores,
    from_student,
    interpolate,
    invert,
    line_moments,
    mean_norm,
    student_values,
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


# -- mean norm ----------------------------------------------------------------------------------
# The mean length of a normal vector against its closed forms and draws.


@pytest.mark.parametrize("variance", [1e-20, 1.0, 1e8])
def test_in_one_dimension_it_is_the_folded_normal(variance):
    centre, std = np.array([0.0, 1e-9, 0.3, 50.0, 1e6]), np.sqrt(variance)
    z = centre / std
    exact = std * (
        z * (2.0 * special.ndtr(z) - 1.0) + 2.0 * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    )
    np.testing.assert_allclose(
        mean_norm(centre[:, None], np.full((5, 1), variance)), exact, rtol=1e-11
    )


def test_about_zero_it_is_the_mean_of_chi():
    for d in (2, 10):
        exact = np.sqrt(2.0) * special.gamma(0.5 * d + 0.5) / special.gamma(0.5 * d)
        np.testing.assert_allclose(mean_norm(np.zeros((1, d)), np.ones((1, d))), exact, rtol=1e-11)


def test_between_them_it_is_the_mean_of_draws():
    rng = np.random.default_rng(0)
    centre, variance = np.array([[0.5, -1.0, 2.0]]), np.array([[0.01, 1.0, 9.0]])
    drawn = np.linalg.norm(centre + np.sqrt(variance) * rng.normal(size=(400_000, 3)), axis=1)
    assert abs(mean_norm(centre, variance)[0] - drawn.mean()) < 4.0 * drawn.std() / np.sqrt(
        len(drawn)
    )
    assert mean_norm(np.array([[3.0, 4.0]]), np.zeros((1, 2)))[0] == pytest.approx(5.0, rel=1e-11)


# -- score shape --------------------------------------------------------------------------------
# The smooth change of scores: exact derivatives, increasing everywhere, and nothing where
# nothing is seen.


def test_slopes_are_those_of_the_features():
    t = np.linspace(-5.0, 5.0, 41)
    step = 1e-6
    numeric = (ss._features(t + step)[0] - ss._features(t - step)[0]) / (2.0 * step)
    np.testing.assert_allclose(ss._features(t)[1], numeric, atol=1e-7)


def test_the_mode_is_the_least_of_its_loss():
    t = np.random.default_rng(0).exponential(size=300) - 1.0
    (features, slopes), guard = ss._features(t), ss._features(ss.GUARD)[1]
    c, status, value, _ = ss._mode(
        t, np.ones(300), features, slopes, guard, 0.4, np.zeros(ss.N_FEATURES)
    )

    def loss(c):
        u, slope, kept = t + features @ c, 1.0 + slopes @ c, 1.0 + guard @ c
        if min(slope.min(), kept.min()) <= 0.0:
            return 1e10
        return (
            (0.5 * u * u - np.log(slope)).sum()
            - ss.GUARDS / len(kept) * np.log(kept).sum()
            + 0.5 * c @ c / 0.16
        )

    assert status == "converged"
    assert abs(value - loss(c)) < 1e-8 * abs(value)
    assert (
        optimize.minimize(loss, c, method="Nelder-Mead", options={"maxfev": 2000}).fun
        > value - 1e-5
    )


def test_it_increases_everywhere_and_is_no_change_where_scores_are_normal():
    t = np.random.default_rng(0).exponential(size=2000) - 1.0
    found, status = ss.fit_shape(t, np.ones(2000))
    assert status == "converged"
    assert (np.diff(ss.shape_values(found, np.linspace(-40.0, 40.0, 4001))) > 0.0).all()
    assert abs(np.mean(np.square(ss.shape_values(found, t))) - 1.0) < 0.05
    normal, _ = ss.fit_shape(np.random.default_rng(1).normal(size=200), np.ones(200))
    assert np.abs(ss.shape_values(normal, ss.GUARD) - ss.GUARD)[10:-10].max() < 0.1


# -- student scores -----------------------------------------------------------------------------


def test_the_table_is_of_quantiles():
    assert (TABLE[0], TABLE[400], TABLE[-1], len(TABLE)) == (-8.0, 0.0, 8.0, 801)
    assert student_values(np.inf) is TABLE
    for degrees in (2.5, 6.0):
        values = student_values(degrees)
        np.testing.assert_allclose(
            special.stdtr(degrees, values[::50]), special.ndtr(TABLE[::50]), rtol=1e-9
        )
        np.testing.assert_array_equal(values, -values[::-1])
        assert values[400] == 0.0
    assert DEGREES[0] == np.inf
    assert list(DEGREES) == sorted(DEGREES, reverse=True)


def test_scores_are_normal_inside_and_straight_beyond():
    e = np.array([-1.3, 0.0, 0.4, 2.0])
    assert from_student(e, np.inf) is e
    np.testing.assert_allclose(
        from_student(e, 4.0), special.ndtri(special.stdtr(4.0, e)), atol=1e-4
    )
    values = student_values(4.0)
    slope = 0.02 / (values[-1] - values[-2])
    far = np.array([values[-1], values[-1] + 3.0, -values[-1] - 3.0])
    np.testing.assert_allclose(
        from_student(far, 4.0), [8.0, 8.0 + 3.0 * slope, -8.0 - 3.0 * slope], rtol=1e-9
    )
