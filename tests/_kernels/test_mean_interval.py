"""The interval of a mean from sums of powers: near to the Bayesian bootstrap it stands for, and
to the exact one of a rate.
"""

import numpy as np
import pytest
from scipy.stats import beta, norm, pearson3, t

from calibrant import metrics
from calibrant._kernels.intervals import (
    _quantile,
    limits_within,
    mean_limits,
    mean_tail,
    moved_limits,
    powers,
    ratio_limits,
    unseen_ends,
)

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
