"""Slope and intercept by the equations that they solve, and their robust variance written out."""

import numpy as np
from scipy import special

from calibrant._kernels.logistic import intercept_at_unit_slope, slope_and_intercept

RNG = np.random.default_rng(0)
SCORE = RNG.uniform(0.05, 0.95, 40)
HIT = (RNG.random(40) < SCORE**1.5).astype(float)
WEIGHT = RNG.integers(1, 4, 40).astype(float)
ODDS = special.logit(SCORE)


def test_both_solve_the_likelihood_equations_with_sandwich_variances():
    (slope, intercept), covariance = slope_and_intercept(SCORE, HIT, WEIGHT)
    X, p = np.column_stack([ODDS, np.ones(40)]), special.expit(intercept + slope * ODDS)
    np.testing.assert_allclose(X.T @ (WEIGHT * (HIT - p)), 0.0, atol=1e-9)
    bread = np.linalg.inv((X.T * (WEIGHT * p * (1 - p))) @ X)
    meat = (X.T * (WEIGHT * (HIT - p) ** 2)) @ X
    n = WEIGHT.sum()
    np.testing.assert_allclose(covariance, bread @ meat @ bread * n / (n - 1), rtol=1e-7)


def test_the_intercept_at_slope_one():
    value, variance = intercept_at_unit_slope(SCORE, HIT, WEIGHT)
    p, n = special.expit(ODDS + value), WEIGHT.sum()
    np.testing.assert_allclose(WEIGHT @ p, WEIGHT @ HIT)
    np.testing.assert_allclose(
        variance, WEIGHT @ (HIT - p) ** 2 / (WEIGHT @ (p * (1 - p))) ** 2 * n / (n - 1)
    )


def test_where_there_is_no_maximum():
    ones = np.ones(4)
    score = np.array([0.1, 0.2, 0.6, 0.7])
    assert slope_and_intercept(score, ones, ones) is None
    assert slope_and_intercept(score, 0 * ones, ones) is None
    assert slope_and_intercept(score, np.array([0.0, 0.0, 1.0, 1.0]), ones) is None
    assert slope_and_intercept(score, np.array([1.0, 1.0, 0.0, 0.0]), ones) is None
    # Touching at one score is separated still; overlapping is not.
    touching = np.array([0.1, 0.4, 0.4, 0.7])
    assert slope_and_intercept(touching, np.array([0.0, 0.0, 1.0, 1.0]), ones) is None
    assert slope_and_intercept(score, np.array([0.0, 1.0, 0.0, 1.0]), ones) is not None
    assert intercept_at_unit_slope(score, ones, ones) is None
    assert intercept_at_unit_slope(score, 0 * ones, ones) is None
    assert intercept_at_unit_slope(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.ones(2)) is None
    # Half of four at even odds: no shift, and a variance of 1 / (n p q), raised by n / (n - 1).
    value, variance = intercept_at_unit_slope(np.full(4, 0.5), np.array([0.0, 1.0, 0.0, 1.0]), ones)
    np.testing.assert_allclose([value, variance], [0.0, 4.0 / 3.0], atol=1e-12)


def test_rows_of_little_weight_are_not_taken_for_more_than_one():
    """Of a weight of 1.5 the factor n / (n - 1) is 1.5, not 3."""
    light = WEIGHT * 1.5 / WEIGHT.sum()
    for fit in (
        lambda w: slope_and_intercept(SCORE, HIT, w)[1],
        lambda w: intercept_at_unit_slope(SCORE, HIT, w)[1],
    ):
        # But for the factor, here also 1.5, variances times n stay the same.
        np.testing.assert_allclose(fit(light), fit(WEIGHT) * (WEIGHT.sum() - 1.0), rtol=1e-6)
