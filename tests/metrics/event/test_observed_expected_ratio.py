"""O/E against its formulas, and its interval against simulated truths."""

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError

oe = metrics.observed_expected_ratio


def test_it_is_the_quotient_of_two_sums():
    y, p, w = np.array([1, 0, 1, 0]), np.array([0.5, 0.2, 0.9, 0.1]), np.array([1, 2, 3, 0])
    assert oe(y, p) == pytest.approx(2 / 1.7)
    assert oe(y, p, sample_weight=w) == pytest.approx(4 / 3.6)
    assert oe(y, np.column_stack([1 - p, p]), target=0) == pytest.approx(2 / 2.3)
    P3 = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    assert oe([2, 0], P3, target=2) == pytest.approx(1 / 1.3)


def test_many_events_have_the_interval_of_the_log_scale():
    y, p = np.repeat([1, 0], [40, 360]), np.full(400, 0.05)
    found = oe.interval(y, p)
    factor = np.exp(stats.norm.ppf(0.975) * np.sqrt((1 - 0.1) / 40))
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0 / factor, 2.0 * factor))
    assert found.method == "analytic"


def test_few_events_have_the_exact_poisson_interval_and_none_a_one_sided_one():
    p = np.full(80, 0.1)
    found = oe.interval(np.repeat([1, 0], [9, 71]), p)
    assert (found.low, found.high) == pytest.approx(
        (stats.chi2.ppf(0.025, 18) / 16, stats.chi2.ppf(0.975, 20) / 16)
    )
    none = oe.interval(np.zeros(80, dtype=int), p)
    assert (none.value, none.low, none.high) == (0.0, 0.0, pytest.approx(3.689 / 8, rel=1e-4))


def test_none_expected():
    assert oe([0, 1], [0.0, 0.0]) == np.inf
    assert np.isnan(oe([0, 0], [0.0, 0.0]))
    assert oe.interval([0, 1, 0], [0.0, 0.0, 0.0]).low == np.inf


def test_groups_have_the_interval_of_their_rows():
    rng = np.random.default_rng(0)
    p, group = 0.3 * rng.random(600), rng.integers(0, 4, 600)
    y = (rng.random(600) < p * (1 + group)).astype(int)
    found = metrics.per_group(oe, y, p, group)
    for g in range(4):
        alone = oe.interval(y[group == g], p[group == g])
        assert (found.value[g], found.low[g], found.high[g]) == pytest.approx(
            (alone.value, alone.low, alone.high)
        )


@pytest.mark.parametrize(("n", "rate"), [(100, 0.02), (100, 0.3), (1000, 0.015), (60, 0.9)])
def test_the_interval_covers(n, rate):
    rng = np.random.default_rng(1)
    truth = (
        rate * (0.6 + 0.8 * np.linspace(0, 1, n)) if rate < 0.7 else np.linspace(2 * rate - 1, 1, n)
    )
    p = np.clip(1.4 * truth, 0, 1)
    true = truth.sum() / p.sum()
    draws = [oe.interval((rng.random(n) < truth).astype(int), p) for _ in range(400)]
    assert np.mean([d.low <= true <= d.high for d in draws]) >= 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 400
    )


def by_hand(y, p, given):
    """The limits from single rows: nearer, on the log scale, by the root of two variances."""
    n, events = len(y), y.sum()
    if given == "risks":
        left = np.polyfit(p, y, 1, full=True)[1][0] * n / (n - 2) + 1.0
    else:
        left = np.sum((y - events / p.sum() * p) ** 2) * n / (n - 1) + 1.0
    by = np.sqrt(left / (events * (1.0 - events / n)))
    wide = oe.interval(y, p)
    return [wide.value * (end / wide.value) ** by for end in (wide.low, wide.high)]


@pytest.mark.parametrize("given", ["risks", "nothing"])
def test_what_is_given_narrows_the_limits_as_by_hand(given):
    rng = np.random.default_rng(4)
    p = rng.beta(0.5, 0.7, 300)
    y = (rng.random(300) < p).astype(int)
    found = oe.interval(y, p, given=given)
    assert [found.low, found.high] == pytest.approx(by_hand(y, p, given))
    assert found.high - found.low < 0.8 * np.ptp([oe.interval(y, p).low, oe.interval(y, p).high])
    twice = np.repeat(np.arange(300), 2)
    whole = oe.interval(y, p, given=given, sample_weight=np.full(300, 2.0))
    again = oe.interval(y[twice], p[twice], given=given)
    assert (whole.low, whole.high) == pytest.approx((again.low, again.high))


def test_risks_that_tell_nothing_leave_it_as_wide_and_bold_ones_widen_that_of_new_rows():
    y, alike, bold = np.repeat([1, 0], [40, 360]), np.full(400, 0.05), np.tile([0.0, 0.1], 200)
    one, other = oe.interval(y, alike), oe.interval(y, alike, given="risks")
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert oe.interval(y, bold, given="nothing").high > oe.interval(y, bold).high
    for given in ("risks", "nothing"):
        none = oe.interval(0 * y, alike, given=given)
        assert (none.low, none.high) == (0.0, oe.interval(0 * y, alike).high)


def test_a_given_that_is_unknown_is_refused():
    with pytest.raises(InputError, match="given"):
        oe.interval([0, 1], [0.2, 0.7], given="rows")


@pytest.mark.parametrize("given", ["risks", "nothing"])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_either_estimand_is_covered_where_risks_are_wide_or_too_bold(given, factor):
    rng, repeats, held = np.random.default_rng(11), 400, 0
    for _ in range(repeats):
        z = rng.normal(0.0, 2.0, 200)
        true, p = 1.0 / (1.0 + np.exp(-z)), 1.0 / (1.0 + np.exp(-factor * z))
        found = oe.interval((rng.random(200) < true).astype(int), p, given=given)
        truth = true.sum() / p.sum() if given == "risks" else 1.0
        held += found.low <= truth <= found.high
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / repeats) <= held / repeats
