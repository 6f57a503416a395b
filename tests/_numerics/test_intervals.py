"""Intervals for a proportion against SciPy's."""

import numpy as np
import pytest
from scipy import special, stats
from scipy.stats import beta, binomtest, norm, pearson3, t

from calibrant import metrics
from calibrant._numerics import intervals
from calibrant._numerics.intervals import (
    _quantile,
    auroc_limits,
    event_count_limits,
    limits_within,
    mean_limits,
    mean_tail,
    minus,
    moved_limits,
    multinomial_correlation,
    normal_interval,
    over_rates,
    poisson_limits,
    powers,
    quotient,
    ratio_limits,
    stretched,
    sum_limits,
    unseen_ends,
    wilson,
)


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


# -- auroc limits -------------------------------------------------------------------------------


def test_written_out():
    """Half a row of which nothing is known, with mean 1/2 and variance 1/12, joins either side;
    Student's t by the smaller one.
    """
    sides = [
        (np.array([1.0, 0.5, 0.75]), np.array([1.0, 2.0, 1.0])),
        (np.array([0.9, 0.6]), np.array([3.0, 2.0])),
    ]
    means, variances, sizes = [], [], []
    for placement, weight in sides:
        n = weight.sum() + 0.5
        mean = (placement @ weight + 0.25) / n
        square = weight @ (placement - mean) ** 2 + 0.5 * (0.5 - mean) ** 2 + 0.5 / 12
        means.append(mean)
        variances.append(square / n / (n - 1))
        sizes.append(n)
    area = means[0]
    half = stats.t.ppf(0.95, sizes[0]) * np.sqrt(sum(variances)) / (area * (1 - area))
    expected = special.expit(special.logit(area) + np.array([-half, half]))
    np.testing.assert_allclose(auroc_limits(*sides, 0.9), expected)
    # Whichever side is first, it is the smaller one's mean; equal sizes take the first.
    np.testing.assert_allclose(auroc_limits(*sides[::-1], 0.9), expected)
    same = (np.array([0.9]), np.array([1.0])), (np.array([0.2]), np.array([1.0]))
    assert sum(auroc_limits(*same, 0.5)) > 1.0 > sum(auroc_limits(*same[::-1], 0.5))


# -- event counts -------------------------------------------------------------------------------


def test_exact_poisson_limits_are_those_of_chi_squared():
    for count in (0, 1, 3, 12):
        low, high = poisson_limits(count)
        assert low == pytest.approx(stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0)
        assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * count + 2) / 2)
    # 12 events where 8 were expected: 1.5 [0.775, 2.620]; none at all: up to 3.689.
    assert np.array(poisson_limits(12)) / 8 == pytest.approx([0.775, 2.620], abs=5e-4)
    assert poisson_limits(0) == (0.0, pytest.approx(3.689, abs=5e-4))


def test_many_events_on_the_log_scale_few_exactly_and_never_more_than_rows():
    factor = np.exp(1.959964 * np.sqrt((1 - 40 / 400) / 40))
    assert event_count_limits(40, 400) == pytest.approx((40 / factor, 40 * factor), rel=1e-6)
    assert np.array(event_count_limits(3, 400)) == pytest.approx(np.array(poisson_limits(3)))
    assert event_count_limits(30, 33) == pytest.approx(
        [33 * q for q in (stats.beta.ppf(0.025, 30, 4), stats.beta.ppf(0.975, 31, 3))]
    )
    count, n = np.meshgrid(np.arange(0, 41), [40.0, 1000.0])
    low, high = event_count_limits(count, n)
    assert (low <= count).all()
    assert (count <= high).all()
    assert (high <= n).all()
    assert (low < high).all()


def test_stretched_limits_are_so_many_times_as_far_in_logarithms():
    limits = np.array([0.0, 5.0, 5.0]), np.array([3.0, 40.0, 40.0])
    low, high = stretched(np.array([0.0, 10.0, 10.0]), limits, np.array([9.0, 0.5, 2.0]))
    np.testing.assert_allclose(low, [0.0, 10.0 / np.sqrt(2.0), 2.5])
    np.testing.assert_allclose(high, [3.0, 20.0, 160.0])


# -- mean interval ------------------------------------------------------------------------------
# The interval of a mean from sums of powers: near to the Bayesian bootstrap it stands for, and
# to the exact one of a rate.


RNG = np.random.default_rng(0)


def limits(loss, below, above, level=0.95):
    return mean_limits(
        float(len(loss)),
        np.array([one.sum() for one in powers(loss)]),
        np.float64(below),
        np.float64(above),
        level,
    )


@pytest.mark.parametrize("k", [0, 1, 3, 20])
@pytest.mark.parametrize("n", [50, 400])
def test_two_values_give_nearly_the_exact_interval_of_the_rate(k, n):
    low, high = limits(np.repeat([1.0, 0.0], [k, n - k]), 0.0, 1.0)
    assert low == pytest.approx(beta.ppf(0.025, k, n - k + 1) if k else 0.0, abs=0.4 / n)
    assert high == pytest.approx(beta.ppf(0.975, k + 1, n - k), abs=0.5 / n)


@pytest.mark.parametrize(
    "loss",
    [RNG.gamma(0.5, size=60), -RNG.gamma(0.3, size=100), RNG.normal(size=40)],
    ids=["gamma", "left", "normal"],
)
def test_it_is_the_bayesian_bootstrap_with_one_row_more(loss):
    for unseen, q, end in ((loss.min() - 1.0, 0.025, 0), (loss.max() + 1.0, 0.975, 1)):
        draws = np.random.default_rng(1).dirichlet(np.ones(len(loss) + 1), 100_000) @ np.append(
            loss, unseen
        )
        found = limits(loss, loss.min() - 1.0, loss.max() + 1.0)[end]
        # It is a little wider, as for a sample's variance.
        assert abs(found - loss.mean()) == pytest.approx(
            abs(np.quantile(draws, q) - loss.mean()), rel=0.06
        )


def test_a_row_on_the_wrong_side_of_the_mean_does_not_count():
    loss = RNG.random(30)
    assert limits(loss, 5.0, 5.0)[0] == limits(loss, loss.mean() + 1e-9, 5.0)[0]


def test_one_row_says_nothing_and_equal_rows_have_a_width():
    one = np.array([0.3, 0.09, 0.027])
    assert limits_within((0.0, 1.0), np.float64(1.0), one, (0.0, 1.0), 0.95) == (0.0, 1.0)
    low, high = limits_within(
        (0.0, np.inf),
        np.float64(9.0),
        9.0 * one,
        unseen_ends(np.float64(9.0), 9.0 * one, (0.0, np.inf)),
        0.95,
    )
    assert low < 0.29 < 0.31 < high


def test_merged_states_have_the_interval_of_the_whole():
    p = RNG.random(80)
    y = (RNG.random(80) < p).astype(int)
    for metric in (metrics.log_loss, metrics.brier_score, metrics.accuracy, metrics.overconfidence):
        whole, state = (
            metric.interval(y, p),
            metric.state(y[:30], p[:30]) + metric.state(y[30:], p[30:]),
        )
        assert np.array(metric.limits(state.totals)) == pytest.approx(
            [whole.low, whole.high], rel=1e-9
        )
        twice = metric.interval(y, p, sample_weight=np.full(80, 2.0))
        again = metric.interval(np.tile(y, 2), np.tile(p, 2))
        assert (twice.low, twice.high) == pytest.approx((again.low, again.high), rel=1e-9)


def test_fifty_rows_at_99_percent_all_right():
    """Finding F16: the probability of no wrong row is 0.6 if calibrated, and every interval said
    [0.01, 0.01].
    """
    for metric, true in (
        (metrics.log_loss, 0.056),
        (metrics.brier_score, 0.0198),
        (metrics.underconfidence, 0.01),
    ):
        found = metric.interval([1] * 50, [0.99] * 50)
        assert found.low <= found.value <= found.high
        assert found.low <= true + 1e-12 < found.high


def test_quantiles_are_those_of_pearsons_third_type():
    q = np.array([0.025, 0.3, 0.9, 0.95])
    for skew in (1.3, 0.2, -0.7):
        np.testing.assert_allclose(_quantile(q, np.full(4, skew)), pearson3.ppf(q, skew), rtol=1e-9)
    np.testing.assert_allclose(_quantile(q, np.zeros(4)), norm.ppf(q))
    np.testing.assert_allclose(_quantile(q, np.full(4, 1e-3)), norm.ppf(q))


def moments(loss, weight):
    return weight.sum(), np.array([weight @ power for power in powers(loss)])


def test_ends_are_dirichlet_means_with_one_row_more():
    """Mean, variance over rows + 1 raised by (rows + 1) / (rows - 1) ..., and skewness, written
    out from the rows.
    """
    rng = np.random.default_rng(0)
    loss, weight = rng.gamma(0.7, 1.0, 30), rng.integers(1, 4, 30).astype(float)
    n, sums = moments(loss, weight)
    low, high = mean_limits(n, sums, -0.4, 9.0, 0.9)
    for found, unseen, q in ((low, -0.4, 0.05), (high, 9.0, 0.95)):
        value, share = np.append(loss, unseen), np.append(weight, 1.0)
        rows = share.sum()
        mean = share @ value / rows
        variance, cube = (share @ (value - mean) ** k / rows for k in (2, 3))
        skew = 2 * np.sqrt(rows + 1) / (rows + 2) * cube / variance**1.5
        np.testing.assert_allclose(
            found, mean + np.sqrt(variance / (rows - 1)) * pearson3.ppf(q, skew)
        )


def test_what_the_unseen_row_loses_by_hand():
    n, sums = moments(np.array([0.1, 0.2, 0.6]), np.ones(3))
    assert unseen_ends(n, sums, (0.0, 1.0)) == (0.0, 1.0)
    # As far as the nearer bound: .3 of a mean of .3.
    np.testing.assert_allclose(unseen_ends(n, sums, (0.0, 1.0), "double"), (0.0, 0.6))
    np.testing.assert_allclose(unseen_ends(n, sums, (-1.0, 0.5), "double"), (0.1, 0.5))
    np.testing.assert_allclose(unseen_ends(n, sums, (-np.inf, 0.5)), (0.1, 0.5))
    # At a bound: the other one.
    at = moments(np.zeros(3), np.ones(3))
    np.testing.assert_allclose(unseen_ends(*at, (0.0, 2.0), "double"), (-2.0, 2.0))
    np.testing.assert_allclose(unseen_ends(*at, (-np.inf, 0.0)), (0.0, 0.0))
    # No bound: one unit below; above the third moment over the second, once to fourteen times.
    np.testing.assert_allclose(
        unseen_ends(*moments(np.array([1.0, 2.0, 3.0]), np.ones(3)), (-np.inf, np.inf)), (1.0, 3.0)
    )
    for loss in (
        np.array([0.0, 0.0, 0.0, 8.0]),
        np.array([0.0, 0.0, 3.0, 5.0]),
        np.array([0.0] * 40 + [30.0]),
    ):
        mean, variance, cube = loss.mean(), loss.var(), np.mean((loss - loss.mean()) ** 3)
        tail = cube / variance
        skew = tail / np.sqrt(variance)
        above = max(mean, tail * np.clip(max(2.0 * skew, 0.9 * skew**2), 1.0, 14.0))
        np.testing.assert_allclose(
            unseen_ends(*moments(loss, np.ones(len(loss))), (0.0, np.inf)), (0.0, mean + above)
        )


def test_limits_stay_within_the_bounds():
    n, sums = moments(np.array([0.5, 0.6]), np.ones(2))
    low, high = limits_within((0.45, 0.7), n, sums, (0.0, 1.0), 0.95)
    assert (low, high) == (0.45, 0.7)
    one = moments(np.array([0.5]), np.ones(1))
    assert [float(end) for end in limits_within((0.0, 1.0), *one, (0.0, 1.0), 0.95)] == [0.0, 1.0]


def test_a_quotient_of_sums_is_a_mean_of_its_rows_with_students_t():
    """With bottoms of 1 it is the mean itself; with others, moments of top - value x bottom,
    worth (sum b)^2 / sum b^2 rows.
    """
    rng = np.random.default_rng(1)
    for bottom in (np.ones(12), rng.uniform(0.5, 2.0, 12)):
        top = bottom * rng.gamma(2.0, 0.4, 12)
        products = [
            top,
            bottom,
            top**2,
            top * bottom,
            bottom**2,
            top**3,
            top**2 * bottom,
            top * bottom**2,
            bottom**3,
        ]
        totals = np.array([[product.sum() for product in products]])
        value = totals[:, 0] / totals[:, 1]
        low, high = ratio_limits((0.0, np.inf), value, totals, 0.9)
        n = totals[0, 1] ** 2 / totals[0, 4]
        off = top - value * bottom
        second, third = (off**2).sum() / totals[0, 4], (off**3).sum() / totals[0, 8]
        own = (
            np.array(
                [value[0], second + value[0] ** 2, third + 3 * value[0] * second + value[0] ** 3]
            )
            * n
        )
        ends = limits_within(
            (0.0, np.inf), n, own, unseen_ends(n, own, (0.0, np.inf), "double"), 0.9
        )
        wide = t.ppf(0.95, n - 1) / norm.ppf(0.95)
        np.testing.assert_allclose(
            [low[0], high[0]],
            [value[0] - wide * (value[0] - ends[0]), value[0] + wide * (ends[1] - value[0])],
        )


def test_a_value_that_rows_move():
    weight, moves = np.array([1.0, 2.0, 3.0]), np.array([0.2, -0.4, 0.2])
    other = np.array([0.1, 0.3, 0.2])
    low, high = moved_limits((0.0, 1.0), weight, 0.5, moves, other, 0.9)
    sums = np.array([weight @ (0.5 + moves) ** k for k in (1, 2, 3)])
    ends = mean_limits(6.0, sums, 0.0, 0.5 + weight @ other / 6.0, 0.9)
    wide = t.ppf(0.95, 5) / norm.ppf(0.95)
    np.testing.assert_allclose(
        [low, high],
        [max(0.5 - wide * (0.5 - ends[0]), 0.0), min(0.5 + wide * (ends[1] - 0.5), 1.0)],
    )


@pytest.mark.parametrize("shift", [-0.3, -0.05, 0.02, 0.4])
def test_the_tail_is_where_the_limits_begin_to_hold_0(shift):
    loss = np.random.default_rng(3).exponential(1.0, 40) - 1.0 + shift
    n, sums = moments(loss, np.ones(40))
    ends = float(loss.min()) - 1.0, float(loss.max()) + 1.0
    tail = mean_tail(float(n), sums, *ends)
    assert 0.0 < tail < 0.5
    low, high = mean_limits(n, sums, *ends, 1.0 - 2.0 * tail)
    assert (low if loss.mean() > 0.0 else high) == pytest.approx(0.0, abs=1e-9)


def test_a_mean_that_cannot_vary_is_on_one_side():
    n, sums = moments(np.full(5, 0.5), np.ones(5))
    assert mean_tail(float(n), sums, 0.5, 0.5) == 0.0
    assert mean_tail(float(n), sums, -np.inf, 1.0) == 0.5


# -- mover --------------------------------------------------------------------------------------


def test_of_two_normal_estimates_it_is_the_normal_interval():
    first, second = (3.0, *normal_interval(3.0, 0.4)), (-1.0, *normal_interval(-1.0, 0.9))
    for correlation in (-0.7, 0.0, 0.5):
        variance = 0.4 + 0.9 + 2.0 * correlation * np.sqrt(0.4 * 0.9)
        assert sum_limits(first, second, correlation) == pytest.approx(
            normal_interval(2.0, variance)
        )


def test_a_difference_of_rates_is_newcombes():
    """Newcombe (1998), method 10: 56/70 - 48/80 has the limits 0.0524 and 0.3339."""
    parts = [(k / n, *wilson(np.array(k), np.array(n))) for k, n in ((56, 70), (48, 80))]
    assert sum_limits(parts[0], minus(parts[1])) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_correlation_of_shares_of_one_total():
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(50, [0.2, 0.3, 0.5], 20_000)
    assert multinomial_correlation(np.array(0.2), np.array(0.3)) == pytest.approx(
        np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1], abs=0.02
    )
    assert multinomial_correlation(np.array([0.0, 0.25]), np.array([1.0, 0.75])).tolist() == [
        0.0,
        -1.0,
    ]


# -- over rates ---------------------------------------------------------------------------------


def test_a_peak_between_the_ends_is_found_and_the_least_is_at_an_end():
    peaks = np.array([0.001, 0.3, 0.9])
    least, largest = over_rates(
        lambda rate: -np.square(np.log(rate / peaks)),
        (np.array([1e-4, 0.1, 0.91]), np.array([0.5, 0.4, 0.99])),
    )
    assert largest[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert largest[2] == pytest.approx(-(np.log(0.91 / 0.9) ** 2))
    assert least == pytest.approx([-(np.log(500) ** 2), -(np.log(3) ** 2), -(np.log(1.1) ** 2)])


# -- quotient -----------------------------------------------------------------------------------


def test_nothing_to_divide_by_is_nan():
    np.testing.assert_array_equal(
        quotient(np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 0.5])), [0.5, np.nan, 6.0]
    )
    np.testing.assert_array_equal(quotient(np.array([1.0, 2.0]), np.array(4.0)), [0.25, 0.5])
