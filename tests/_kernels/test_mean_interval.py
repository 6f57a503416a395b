"""The interval of a mean from sums of powers: near to the Bayesian bootstrap it stands for, and to the exact one of a rate."""

import numpy as np
import pytest
from scipy.stats import beta

from calibrant import metrics
from calibrant._kernels.mean_interval import limits_within, mean_limits, powers, unseen_ends

RNG = np.random.default_rng(0)


def limits(loss, below, above, level=0.95):
    return mean_limits(float(len(loss)), np.array([one.sum() for one in powers(loss)]), np.float64(below), np.float64(above), level)


@pytest.mark.parametrize("k", [0, 1, 3, 20])
@pytest.mark.parametrize("n", [50, 400])
def test_two_values_give_nearly_the_exact_interval_of_the_rate(k, n):
    low, high = limits(np.repeat([1.0, 0.0], [k, n - k]), 0.0, 1.0)
    assert low == pytest.approx(beta.ppf(0.025, k, n - k + 1) if k else 0.0, abs=0.4 / n)
    assert high == pytest.approx(beta.ppf(0.975, k + 1, n - k), abs=0.5 / n)


@pytest.mark.parametrize("loss", [RNG.gamma(0.5, size=60), -RNG.gamma(0.3, size=100), RNG.normal(size=40)], ids=["gamma", "left", "normal"])
def test_it_is_the_bayesian_bootstrap_with_one_row_more(loss):
    for unseen, q, end in ((loss.min() - 1.0, 0.025, 0), (loss.max() + 1.0, 0.975, 1)):
        draws = np.random.default_rng(1).dirichlet(np.ones(len(loss) + 1), 100_000) @ np.append(loss, unseen)
        found = limits(loss, loss.min() - 1.0, loss.max() + 1.0)[end]
        # It is a little wider, as for a sample's variance.
        assert abs(found - loss.mean()) == pytest.approx(abs(np.quantile(draws, q) - loss.mean()), rel=0.06)


def test_a_row_on_the_wrong_side_of_the_mean_does_not_count():
    loss = RNG.random(30)
    assert limits(loss, 5.0, 5.0)[0] == limits(loss, loss.mean() + 1e-9, 5.0)[0]


def test_one_row_says_nothing_and_equal_rows_have_a_width():
    one = np.array([0.3, 0.09, 0.027])
    assert limits_within((0.0, 1.0), np.float64(1.0), one, (0.0, 1.0), 0.95) == (0.0, 1.0)
    low, high = limits_within((0.0, np.inf), np.float64(9.0), 9.0 * one, unseen_ends(np.float64(9.0), 9.0 * one, (0.0, np.inf)), 0.95)
    assert low < 0.29 < 0.31 < high


def test_merged_states_have_the_interval_of_the_whole():
    p = RNG.random(80)
    y = (RNG.random(80) < p).astype(int)
    for metric in (metrics.log_loss, metrics.brier_score, metrics.accuracy, metrics.overconfidence):
        whole, state = metric.interval(y, p), metric.state(y[:30], p[:30]) + metric.state(y[30:], p[30:])
        assert np.array(metric.limits(state.totals)) == pytest.approx([whole.low, whole.high], rel=1e-9)
        twice = metric.interval(y, p, sample_weight=np.full(80, 2.0))
        again = metric.interval(np.tile(y, 2), np.tile(p, 2))
        assert (twice.low, twice.high) == pytest.approx((again.low, again.high), rel=1e-9)


def test_fifty_rows_at_99_percent_all_right():
    """Finding F16: the probability of no wrong row is 0.6 if calibrated, and every interval said [0.01, 0.01]."""
    for metric, true in ((metrics.log_loss, 0.056), (metrics.brier_score, 0.0198), (metrics.underconfidence, 0.01)):
        found = metric.interval([1] * 50, [0.99] * 50)
        assert found.low <= found.value <= found.high
        assert found.low <= true + 1e-12 < found.high
