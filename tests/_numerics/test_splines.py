"""Natural and restricted cubic splines, and the band in which a whole curve lies at once."""

from itertools import pairwise

import numpy as np
from scipy import integrate, special, stats

from calibrant._numerics.smoothing import (
    clustered_band,
    cube_weights,
    curved_basis,
    fit_restricted_spline,
    interpolated_loess_errors,
    largest_t,
    penalty_root,
    spline_design,
    spline_knots,
)

# -- natural spline -----------------------------------------------------------------------------
# The basis of natural splines, against numerical derivatives and integrals.


KNOTS = np.array([-1.0, 0.0, 0.7, 2.0, 3.5])


def test_it_is_straight_outside_the_knots_and_curved_between():
    root = np.eye(3)
    for x in (-3.0, 5.0):
        second = np.diff(curved_basis(x + np.array([-0.4, 0.0, 0.4]), KNOTS, root), 2, axis=0)
        np.testing.assert_allclose(second, 0.0, atol=1e-9)
    np.testing.assert_array_equal(curved_basis(np.array([-2.0, -1.0]), KNOTS, root), 0.0)
    assert (
        np.abs(np.diff(curved_basis(np.array([1.0, 1.2, 1.4]), KNOTS, root), 2, axis=0)) > 1e-3
    ).all()


def test_the_cubes_above_the_knots_by_hand():
    """Knots 0, 1, 2: ((x)^3 - (x - 2)^3) / 2 - ((x - 1)^3 - (x - 2)^3) of the positive parts."""
    found = curved_basis(np.array([0.5, 1.5, 3.0]), np.array([0.0, 1.0, 2.0]), np.eye(1))[:, 0]
    np.testing.assert_allclose(found, [0.5**3 / 2, 1.5**3 / 2 - 0.5**3, (27 - 1) / 2 - (8 - 1)])


def test_the_sum_of_squares_is_the_roughness():
    root, b = penalty_root(KNOTS), np.array([0.3, -1.2, 0.8])
    step = 1e-3

    def squared(x):
        values = curved_basis(np.array([x - step, x, x + step]), KNOTS, root) @ b
        return (np.diff(values, 2)[0] / step**2) ** 2

    found = sum(integrate.quad(squared, low, high)[0] for low, high in pairwise(KNOTS))
    np.testing.assert_allclose(found, b @ b, rtol=2e-3)


def test_it_is_the_cubes_times_their_weights():
    root, x = penalty_root(KNOTS), np.linspace(-2.0, 4.0, 9)
    cubes = np.maximum(x[:, None] - KNOTS, 0.0) ** 3
    np.testing.assert_allclose(
        curved_basis(x, KNOTS, root), cubes @ cube_weights(KNOTS, root), atol=1e-9
    )


# -- restricted spline --------------------------------------------------------------------------
# Knots by hand, and the fit by the equations that it must solve.


def knots_of(odds, mass, n_knots):
    return spline_knots(
        special.expit(np.asarray(odds, dtype=float)), np.asarray(mass, dtype=float), n_knots
    )


def test_knots_are_quantiles_linear_between_rows():
    """Of n rows with log-odds 0, 1, 2, ..., over as many as keep a logistic function away from
    1.
    """
    odds = np.arange(101) / 10.0
    np.testing.assert_allclose(knots_of(odds, np.ones(101), 3), [1.0, 5.0, 9.0], atol=1e-9)
    np.testing.assert_allclose(knots_of(odds, np.ones(101), 4), [0.5, 3.5, 6.5, 9.5], atol=1e-9)
    np.testing.assert_allclose(
        knots_of(odds, np.ones(101), 5), [0.5, 2.75, 5.0, 7.25, 9.5], atol=1e-9
    )
    np.testing.assert_allclose(knots_of(odds[:100], np.ones(100), 3), [0.99, 4.95, 8.91], atol=1e-9)


def test_of_few_rows_the_outer_knots_are_the_fifth_of_either_side():
    odds = np.arange(99) / 10.0
    np.testing.assert_allclose(knots_of(odds, np.ones(99), 5)[[0, -1]], [0.4, 9.4], atol=1e-9)
    np.testing.assert_allclose(knots_of(odds[:10], np.ones(10), 3), [0.4, 0.45, 0.5], atol=1e-9)
    np.testing.assert_allclose(knots_of(odds[:9], np.ones(9), 3), [0.08, 0.4, 0.72], atol=1e-9)


def test_rows_of_one_score_are_as_many_as_their_mass():
    np.testing.assert_allclose(knots_of([0.0, 1.0], [3.0, 5.0], 3), [0.0, 1.0], atol=1e-9)
    # Rows 0 0 1 1 2 2 2 2 2: .8, 4 and 7.2 of 0 .. 8.
    np.testing.assert_allclose(knots_of([0.0, 1.0, 2.0], [2.0, 2.0, 5.0], 3), [0.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(
        knots_of([0.0, 1.0, 2.0], [1.0, 7.0, 1.0], 3), [0.8, 1.0, 1.2], atol=1e-9
    )


def test_the_design_bends_between_three_knots():
    odds = np.array([-1.0, 0.5, 1.5, 3.0])
    found = spline_design(special.expit(odds), np.array([0.0, 1.0, 2.0]))
    bent = np.array([0.0, 0.5**3 / 2, 1.5**3 / 2 - 0.5**3, 13.0 - 7.0]) / 4.0
    np.testing.assert_allclose(found, np.column_stack([np.ones(4), odds, bent]), atol=1e-9)
    assert spline_design(special.expit(odds), np.array([0.0, 1.0])).shape == (4, 2)


def test_the_fit_solves_the_likelihood_equations():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.05, 0.95, 60)
    mass, mean = (
        rng.integers(1, 9, 60).astype(float),
        np.clip(x**1.4 + 0.1 * rng.normal(size=60), 0.02, 0.98),
    )
    design = spline_design(x, spline_knots(np.sort(x), np.ones(60), 4))
    theta, covariance = fit_restricted_spline(design, mean, mass)
    p = special.expit(design @ theta)
    np.testing.assert_allclose(design.T @ (mass * (mean - p)), 0.0, atol=1e-8)
    np.testing.assert_allclose(
        covariance, np.linalg.inv((design.T * (mass * p * (1 - p))) @ design), rtol=1e-6
    )


def test_outcomes_that_are_separated_have_firths_line():
    """Of two scores it is the log-odds with half a row more of either outcome."""
    design = np.array([[1.0, -1.0], [1.0, 2.0]])
    theta, covariance = fit_restricted_spline(design, np.array([0.0, 1.0]), np.array([3.0, 6.0]))
    p = np.array([0.5 / 4.0, 6.5 / 7.0])
    np.testing.assert_allclose(design @ theta, special.logit(p), rtol=1e-6)
    np.testing.assert_allclose(
        np.diag(design @ covariance @ design.T),
        1.0 / (np.array([3.0, 6.0]) * p * (1 - p)),
        rtol=1e-6,
    )


# -- simultaneous band --------------------------------------------------------------------------
# Bands that hold a whole curve: standard errors written out, and reaches from the same draws.


MATRIX = np.array([[0.5, 0.5, 0.0], [0.0, 0.3, 0.7]])


def test_errors_interpolate_the_variance_of_a_share():
    x, mass, grid = np.array([0.0, 0.5, 1.0]), np.array([4.0, 2.0, 10.0]), np.array([0.0, 1.0])
    errors, inside = interpolated_loess_errors(MATRIX, x, mass, grid)
    effective = np.array([1 / (0.25 / 4 + 0.25 / 2), 1 / (0.09 / 2 + 0.49 / 10)])
    curve = np.array([0.2, 1.4])
    kept = (np.clip(curve, 0, 1) * effective + 1) / (effective + 2)
    np.testing.assert_allclose(inside(curve), kept)
    variance = kept * (1 - kept)
    between = np.array([variance[0], variance.mean(), variance[1]])
    np.testing.assert_allclose(errors(curve), np.sqrt((MATRIX**2 / mass) @ between))


def test_the_largest_t_of_one_point_is_that_of_a_normal_and_never_less():
    one = np.ones((1, 1))
    found = largest_t(
        one,
        lambda moved: np.full(moved.shape, np.sqrt(0.25 / 400)),
        np.array([0.5]),
        np.array([400.0]),
        0.9,
        4000,
        0,
    )
    np.testing.assert_allclose(found, 1.645, atol=0.08)
    wide = largest_t(
        one, lambda moved: np.full(moved.shape, 9.0), np.array([0.5]), np.array([400.0]), 0.9, 50, 0
    )
    np.testing.assert_allclose(wide, stats.norm.ppf(0.95))
    # Two independent points: the level's square root.
    two = largest_t(
        np.eye(2),
        lambda moved: np.full(moved.shape, 0.025),
        np.full(2, 0.5),
        np.full(2, 400.0),
        0.9,
        4000,
        0,
    )
    np.testing.assert_allclose(two, stats.norm.ppf(0.5 + np.sqrt(0.9) / 2), atol=0.08)
    # Masses that are not whole are drawn as the nearest whole number and moved by as much more or
    # less.
    part = largest_t(
        one,
        lambda moved: np.full(moved.shape, np.sqrt(0.25 / 0.4)),
        np.array([0.5]),
        np.array([0.4]),
        0.5,
        50,
        0,
    )
    np.testing.assert_allclose(part, 1.0)


def test_a_clustered_band_written_out():
    rng = np.random.default_rng(0)
    index, cluster, moves = rng.integers(0, 3, 20), rng.integers(0, 4, 20), rng.normal(size=20)
    found, reach = clustered_band(MATRIX, index, moves, cluster, 0.9, 300, np.random.default_rng(5))
    pulled = np.array(
        [
            [
                sum(
                    MATRIX[g, i] * m
                    for i, m, c in zip(index, moves, cluster, strict=True)
                    if c == k
                )
                for k in range(4)
            ]
            for g in range(2)
        ]
    )
    squares = (pulled**2).sum(axis=1) * 4 / 3
    np.testing.assert_allclose(
        found, np.sqrt(squares) * stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95)
    )
    signs = 2.0 * np.random.default_rng(5).integers(0, 2, (300, 4)) - 1.0
    largest = (np.abs(signs @ pulled.T) / np.sqrt(squares)).max(axis=1)
    np.testing.assert_allclose(reach, max(np.quantile(largest, 0.9), stats.norm.ppf(0.95)))
