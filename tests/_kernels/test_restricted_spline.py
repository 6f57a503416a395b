"""Knots by hand, and the fit by the equations that it must solve."""

import numpy as np
from scipy import special

from calibrant._kernels.splines import fit_restricted_spline, spline_design, spline_knots


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
