"""Binary logistic regression with a handful of coefficients, recalibration by it, and limits of
its coefficients.
"""

import numpy as np
import pytest
from scipy import special
from scipy.optimize import approx_fprime

from calibrant._numerics.intervals import clopper_pearson, normal_interval
from calibrant._numerics.logistic import (
    _ends,
    _restricted,
    fit_logistic,
    intercept_at_unit_slope,
    logistic_derivatives,
    plenty,
    profile_limits,
    shift_limits,
    sigmoid,
    slope_and_intercept,
    smoothed_targets,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(300, 2)), np.ones(300)])
    return design, rng.random(300), rng.random(300) + 0.1


def test_derivatives_match_finite_differences(problem):
    theta = np.array([0.3, -0.7, 0.2])
    _, gradient, hessian = logistic_derivatives(theta, *problem)
    numeric = approx_fprime(theta, lambda t: logistic_derivatives(t, *problem)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)
    numeric = approx_fprime(theta, lambda t: logistic_derivatives(t, *problem)[1], 1e-7)
    np.testing.assert_allclose(hessian, numeric, rtol=1e-4, atol=1e-4)


def test_gradient_vanishes_at_the_fit(problem):
    ridge = np.array([1.0, 0.0, 0.0])
    theta, status = fit_logistic(*problem, [np.zeros(3)], ridge=ridge)
    assert status == "converged"
    np.testing.assert_allclose(
        logistic_derivatives(theta, *problem)[1] + ridge * theta, 0, atol=1e-8
    )


def test_bounds_hold_with_the_right_multipliers(problem):
    design, target, weight = problem
    target = sigmoid(-2 * design[:, 0] + design[:, 1])
    theta, status = fit_logistic(
        design, target, weight, [np.ones(3)], nonnegative=np.array([True, True, False])
    )
    gradient = logistic_derivatives(theta, design, target, weight)[1]
    assert status == "converged"
    assert theta[0] == 0.0
    assert gradient[0] > 0
    np.testing.assert_allclose(gradient[1:], 0, atol=1e-7)


def test_blocks_do_not_change_the_sums(monkeypatch, problem):
    whole = logistic_derivatives(np.ones(3), *problem)
    monkeypatch.setattr("calibrant._numerics.logistic.BLOCK_ROWS", 7)
    for a, b in zip(whole, logistic_derivatives(np.ones(3), *problem), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_sigmoid_is_finite_and_inside():
    z = np.array([-1e308, -800, 0, 800, 1e308])
    p = sigmoid(z)
    assert ((p > 0) & (p < 1)).all()
    assert p[2] == 0.5


def test_platts_targets_are_drawn_in_by_the_weight_of_their_side():
    found = smoothed_targets(np.array([1.0, 0.0, 0.0, 1.0]), np.array([2.0, 3.0, 4.0, 0.5]))
    assert found.tolist() == [3.5 / 4.5, 1.0 / 9.0, 1.0 / 9.0, 3.5 / 4.5]


# -- logistic limits ----------------------------------------------------------------------------
# Limits of the coefficients of a logistic recalibration: against exact tails and Wald's
# interval, where each is right.


def drawn(n, rng, shift=0.0, slope=1.0):
    odds = 1.5 * rng.normal(size=n)
    return odds, (rng.random(n) < special.expit(shift + slope * odds)).astype(float)


@pytest.mark.parametrize("hits", [1, 2, 5, 48, 49])
def test_the_shift_of_equal_scores_has_the_exact_limits_of_the_rate_to_3_per_cent(hits):
    hit, weight, odds = np.repeat([1.0, 0.0], [hits, 50 - hits]), np.ones(50), np.full(50, -1.0)
    limits = shift_limits(
        odds, hit, weight, *intercept_at_unit_slope(special.expit(odds), hit, weight), 0.95
    )
    exact = clopper_pearson(hits, 50)
    assert special.expit(np.array(limits) - 1.0) == pytest.approx(
        np.array(exact).ravel(), rel=0.03, abs=1e-3
    )


def test_of_very_many_rows_they_are_walds_and_below_near_to_them():
    rng = np.random.default_rng(0)
    for n, difference in ((1500, 0.02), (8000, 1e-12)):
        odds, hit = drawn(n, rng, -1.0)
        theta, covariance = slope_and_intercept(special.expit(odds), hit, np.ones(n))
        for place in (0, 1):
            found = profile_limits(
                np.column_stack([odds, np.ones(n)]), hit, np.ones(n), theta, covariance, place, 0.95
            )
            assert found == pytest.approx(
                normal_interval(theta[place], covariance[place, place]), abs=difference
            )


def test_weights_are_repetition():
    rng = np.random.default_rng(1)
    odds, hit = drawn(60, rng)
    weight = rng.integers(1, 4, 60).astype(float)
    all_odds, all_hit = np.repeat(odds, weight.astype(int)), np.repeat(hit, weight.astype(int))
    ones = np.ones(len(all_odds))
    fit, again = (
        slope_and_intercept(special.expit(odds), hit, weight),
        slope_and_intercept(special.expit(all_odds), all_hit, ones),
    )
    one = profile_limits(np.column_stack([odds, np.ones(60)]), hit, weight, *fit, 0, 0.95)
    assert one == pytest.approx(
        profile_limits(np.column_stack([all_odds, ones]), all_hit, ones, *again, 0, 0.95), abs=1e-6
    )


@pytest.mark.parametrize("n_events", [3, 6])
def test_of_few_events_they_hold_the_true_slope_where_walds_do_not(n_events):
    """300 samples of so many events among 100 rows of close scores, seed 5; chosen on seed 1 of
    the simulation of coverage.
    """
    rng, held, by_wald, total = np.random.default_rng(5), 0, 0, 0
    while total < 300:
        odds = np.log(n_events / 100.0) + 0.4 * rng.normal(size=100)
        hit = (rng.random(100) < special.expit(odds)).astype(float)
        fit = slope_and_intercept(special.expit(odds), hit, np.ones(100))
        if fit is None:
            continue
        low, high = profile_limits(
            np.column_stack([odds, np.ones(100)]), hit, np.ones(100), *fit, 0, 0.95
        )
        wald = normal_interval(fit[0][0], fit[1][0, 0])
        held, by_wald, total = (
            held + (low <= 1.0 <= high),
            by_wald + (wald[0] <= 1.0 <= wald[1]),
            total + 1,
        )
    assert held / total >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / total)
    assert by_wald < held


def test_where_the_correction_is_worth_more_than_the_root_the_root_alone_has_a_limit():
    """A hit a hair's breadth below a miss is all that keeps the outcomes from being separated,
    and the slope finite.
    """
    rng = np.random.default_rng(4)
    odds = np.concatenate([-rng.uniform(2.3, 7.0, 24), [-2.266, -2.26], rng.uniform(2.3, 7.0, 24)])
    hit = (odds > 0.0).astype(float)
    hit[24] = 1.0
    fit = slope_and_intercept(special.expit(odds), hit, np.ones(50))
    for place in (0, 1):
        low, high = profile_limits(
            np.column_stack([odds, np.ones(50)]), hit, np.ones(50), *fit, place, 0.95
        )
        assert low < fit[0][place] < high


def test_the_other_coefficient_is_that_of_greatest_likelihood():
    from scipy.optimize import brentq

    rng = np.random.default_rng(0)
    offset, column, weight = rng.normal(size=20), rng.normal(size=20), rng.uniform(0.5, 2.0, 20)
    hit = (rng.random(20) < 0.5).astype(float)

    def slope(at):
        return float((weight * (hit - special.expit(offset + at * column))) @ column)

    # From 8 the steps are cut at -5 and at 5, over and over.
    for start in (-3.0, 0.0, 8.0):
        at, curvature = _restricted(offset, column, hit, weight, start)
        p = special.expit(offset + at * column)
        assert at == pytest.approx(brentq(slope, -50, 50), rel=1e-6)
        assert curvature == pytest.approx(float((weight * p * (1 - p)) @ column**2), rel=1e-5)


def test_the_ends_of_a_known_root():
    """With equal roots there is no correction: z standard errors either way, stretched by the
    dispersion.
    """
    low, high = _ends(lambda value: (abs(value - 2.0) / 0.5,) * 2, 2.0, 0.5, 4.0, 0.95)
    assert (low, high) == pytest.approx(
        (2.0 - 1.959964 * 0.5 * 2.0, 2.0 + 1.959964 * 0.5 * 2.0), rel=1e-6
    )
    # u half of r takes log(2) / r off.
    low, high = _ends(lambda value: (abs(value), 0.5 * abs(value)), 0.0, 1.0, 1.0, 0.95)
    assert high - np.log(2.0) / high == pytest.approx(1.959964, rel=1e-6)
    assert low == -high
    # u twice r adds it, so that near 0 the correction alone is too much: the root alone.
    assert _ends(lambda value: (abs(value), 2.0 * abs(value)), 0.0, 1.0, 1.0, 0.95)[
        1
    ] == pytest.approx(1.959964, rel=1e-6)
    # A root that never gets so far has no end.
    assert _ends(lambda value: (min(abs(value), 1.0),) * 2, 0.0, 1.0, 1.0, 0.95) == (
        -np.inf,
        np.inf,
    )


def test_plenty_is_a_thousand_of_either_kind():
    hit = np.array([1.0, 0.0])
    assert plenty(hit, np.array([1000.0, 1000.0]))
    assert not plenty(hit, np.array([999.0, 1000.0]))
    assert not plenty(hit, np.array([1000.0, 999.0]))


@pytest.mark.parametrize("level", [0.3, 0.9])
def test_ends_of_both_coefficients_solve_the_equation_of_the_modified_root(level):
    """r + log(u / r) / r is the normal quantile, from likelihoods that another method has
    maximised.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    design, weight = (
        np.column_stack([rng.normal(size=40), np.ones(40)]),
        rng.integers(1, 4, 40).astype(float),
    )
    hit = (rng.random(40) < special.expit(0.3 + 0.8 * design[:, 0])).astype(float)

    def loss(theta):
        z = design @ theta
        return float(weight @ (np.logaddexp(0.0, z) - hit * z))

    def information(theta):
        p = special.expit(design @ theta)
        return (design.T * (weight * p * (1 - p))) @ design

    theta = minimize(loss, np.zeros(2), tol=1e-12).x
    whole = information(theta)
    for place in (0, 1):
        ends = profile_limits(design, hit, weight, theta, np.linalg.inv(whole), place, level)
        for end, sign in zip(ends, (-1.0, 1.0), strict=True):

            def held(other, end=end, place=place):
                return np.array([end, other])[:: 1 if place == 0 else -1]

            other = minimize(
                lambda x, held=held: loss(held(x[0])), [theta[1 - place]], tol=1e-12
            ).x[0]
            r = np.sqrt(2 * (loss(held(other)) - loss(theta)))
            u = abs(end - theta[place]) * np.sqrt(
                np.linalg.det(whole) / information(held(other))[1 - place, 1 - place]
            )
            assert r + np.log(u / r) / r == pytest.approx(special.ndtri(0.5 + level / 2), abs=2e-4)
            assert sign * (end - theta[place]) > 0.0


# -- logistic recalibration ---------------------------------------------------------------------
# Slope and intercept by the equations that they solve, and their robust variance written out.


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
