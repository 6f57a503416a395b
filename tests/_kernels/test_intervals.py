"""Intervals for a proportion against SciPy's."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from calibrant._kernels import intervals


@pytest.mark.parametrize(
    ("rule", "method"), [(intervals.wilson, "wilson"), (intervals.clopper_pearson, "exact")]
)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_equal_scipys(rule, method, level):
    for n in (1, 2, 10, 1000):
        k = np.unique([0, 1, n // 2, n - 1, n])
        low, high = rule(k, np.full(len(k), n), level)
        expected = [binomtest(int(j), n).proportion_ci(level, method=method) for j in k]
        np.testing.assert_allclose(low, [e.low for e in expected], atol=1e-10)
        np.testing.assert_allclose(high, [e.high for e in expected], atol=1e-10)


@pytest.mark.parametrize("rule", [intervals.wilson, intervals.clopper_pearson])
def test_the_ends_are_exact_at_none_and_all_and_without_rows(rule):
    low, high = rule([0.0, 7.0, 0.0], [7.0, 7.0, 0.0])
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert (low[2], high[2]) == (0.0, 1.0)


def test_fractional_weights_lie_between_whole_ones():
    low, _ = intervals.wilson([2.0, 2.5, 3.0], [5.0, 5.0, 5.0])
    assert low[0] < low[1] < low[2]


def test_normal_quantile():
    assert intervals.normal_quantile(0.95) == pytest.approx(norm.ppf(0.975), rel=1e-14)


def test_a_rate_is_exact_where_fewer_than_ten_are_of_either_kind():
    for k, exact in ((9, True), (10, False), (90, False), (91, True)):
        rule = intervals.clopper_pearson if exact else intervals.wilson
        np.testing.assert_array_equal(intervals.rate_interval(k, 100, 0.9), rule(k, 100, 0.9))


def test_numbers_by_hand():
    assert intervals.unseen_share(59, 0.9) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert intervals.unseen_share(0.2, 0.9) == pytest.approx(0.95)
    assert intervals.inside((0.0, 1.0), (-0.2, 0.7)) == (0.0, 0.7)
    assert intervals.inside((0.0, 1.0), (0.2, 1.7)) == (0.2, 1.0)
    np.testing.assert_allclose(
        intervals.normal_interval(2.0, 4.0, 0.95), (2 - 2 * 1.959964, 2 + 2 * 1.959964), rtol=1e-6
    )
    np.testing.assert_array_equal(intervals.normal_interval(2.0, -1e-9, 0.95), (2.0, 2.0))
    assert intervals.normal_interval(0.0, 1.0, 0.9, 1.0)[1] == pytest.approx(6.313751515)
    # Beta(1, 2) has the distribution function 1 - (1 - x)^2.
    np.testing.assert_allclose(intervals.beta_interval(1.0, 2.0, 0.5), (1 - 0.75**0.5, 0.5))
    # Wilson's of one of four at z = 1: centre (1/4 + 1/8) / (1 + 1/4), half of it sqrt(3/64 + 1/64)
    # / (1 + 1/4).
    level = 2 * norm.cdf(1.0) - 1
    np.testing.assert_allclose(
        intervals.wilson(1.0, 4.0, level), ((0.375 - 0.25) / 1.25, (0.375 + 0.25) / 1.25)
    )


def test_shares_that_are_consistent_with_a_probability_by_the_binomial_tails():
    from scipy.stats import binom

    for n in (1, 7, 40):
        for p in (0.0, 0.02, 0.5, 0.9, 1.0):
            low, high = intervals.consistency(p, float(n), 0.9)
            k = np.arange(n + 1)
            least = k[binom.cdf(k, n, p) >= 0.05 - 1e-12][0] / n
            most = k[binom.cdf(k, n, p) >= 0.95 - 1e-12][0] / n
            np.testing.assert_allclose([low, high], [min(least, p), max(most, p)], atol=1e-12)
