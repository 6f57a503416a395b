"""Limits of the coefficients of a logistic recalibration: against exact tails and Wald's interval, where each is right."""

import numpy as np
import pytest
from scipy import special

from calibrant._kernels.intervals import clopper_pearson, normal_interval
from calibrant._kernels.logistic_limits import profile_limits, shift_limits
from calibrant._kernels.logistic_recalibration import intercept_at_unit_slope, slope_and_intercept


def drawn(n, rng, shift=0.0, slope=1.0):
    odds = 1.5 * rng.normal(size=n)
    return odds, (rng.random(n) < special.expit(shift + slope * odds)).astype(float)


@pytest.mark.parametrize("hits", [1, 2, 5, 48, 49])
def test_the_shift_of_equal_scores_has_the_exact_limits_of_the_rate_to_3_per_cent(hits):
    hit, weight, odds = np.repeat([1.0, 0.0], [hits, 50 - hits]), np.ones(50), np.full(50, -1.0)
    limits = shift_limits(odds, hit, weight, *intercept_at_unit_slope(special.expit(odds), hit, weight), 0.95)
    exact = clopper_pearson(hits, 50)
    assert special.expit(np.array(limits) - 1.0) == pytest.approx(np.array(exact).ravel(), rel=0.03, abs=1e-3)


def test_of_very_many_rows_they_are_walds_and_below_near_to_them():
    rng = np.random.default_rng(0)
    for n, difference in ((1500, 0.02), (8000, 1e-12)):
        odds, hit = drawn(n, rng, -1.0)
        theta, covariance = slope_and_intercept(special.expit(odds), hit, np.ones(n))
        for place in (0, 1):
            found = profile_limits(np.column_stack([odds, np.ones(n)]), hit, np.ones(n), theta, covariance, place, 0.95)
            assert found == pytest.approx(normal_interval(theta[place], covariance[place, place]), abs=difference)


def test_weights_are_repetition():
    rng = np.random.default_rng(1)
    odds, hit = drawn(60, rng)
    weight = rng.integers(1, 4, 60).astype(float)
    all_odds, all_hit = np.repeat(odds, weight.astype(int)), np.repeat(hit, weight.astype(int))
    ones = np.ones(len(all_odds))
    fit, again = slope_and_intercept(special.expit(odds), hit, weight), slope_and_intercept(special.expit(all_odds), all_hit, ones)
    one = profile_limits(np.column_stack([odds, np.ones(60)]), hit, weight, *fit, 0, 0.95)
    assert one == pytest.approx(profile_limits(np.column_stack([all_odds, ones]), all_hit, ones, *again, 0, 0.95), abs=1e-6)


@pytest.mark.parametrize("n_events", [3, 6])
def test_of_few_events_they_hold_the_true_slope_where_walds_do_not(n_events):
    """300 samples of so many events among 100 rows of close scores, seed 5; chosen on seed 1 of the simulation of coverage."""
    rng, held, by_wald, total = np.random.default_rng(5), 0, 0, 0
    while total < 300:
        odds = np.log(n_events / 100.0) + 0.4 * rng.normal(size=100)
        hit = (rng.random(100) < special.expit(odds)).astype(float)
        fit = slope_and_intercept(special.expit(odds), hit, np.ones(100))
        if fit is None:
            continue
        low, high = profile_limits(np.column_stack([odds, np.ones(100)]), hit, np.ones(100), *fit, 0, 0.95)
        wald = normal_interval(fit[0][0], fit[1][0, 0])
        held, by_wald, total = held + (low <= 1.0 <= high), by_wald + (wald[0] <= 1.0 <= wald[1]), total + 1
    assert held / total >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / total)
    assert by_wald < held


def test_where_the_correction_is_worth_more_than_the_root_the_root_alone_has_a_limit():
    """A hit a hair's breadth below a miss is all that keeps the outcomes from being separated, and the slope finite."""
    rng = np.random.default_rng(4)
    odds = np.concatenate([-rng.uniform(2.3, 7.0, 24), [-2.266, -2.26], rng.uniform(2.3, 7.0, 24)])
    hit = (odds > 0.0).astype(float)
    hit[24] = 1.0
    fit = slope_and_intercept(special.expit(odds), hit, np.ones(50))
    for place in (0, 1):
        low, high = profile_limits(np.column_stack([odds, np.ones(50)]), hit, np.ones(50), *fit, place, 0.95)
        assert low < fit[0][place] < high
