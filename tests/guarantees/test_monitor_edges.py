"""The alarm of a monitor where its evidence is the threshold itself, and what its claim of a bin
is, by numbers worked by hand.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import math

import numpy as np

import calibrant as cb
from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.online import (
    ALTERNATIVES,
    N_ALTERNATIVES,
    growth_since,
    likeliest_start,
    log_evidence,
    log_factors,
    next_stakes,
)

#: Ten rows at .5 of which nine hit, in one bin of two.
OFF = np.array([[10.0, 5.0, 9.0], [0.0, 0.0, 0.0]])


def _told(alpha, batches=(OFF,), reference=None):
    monitor = cb.monitoring.CalibrationMonitor(alpha=alpha, tolerance=0.0)
    if reference is not None:
        monitor.fit_sums(reference)
    for sums in batches:
        monitor.update_sums(sums)
    return monitor


def test_money_that_is_not_bet_stays():
    """Without a factor all of it is there after each batch: 1 / (t + 1) is not staked yet, 1 /
    (t (t + 1)) was staked at batch t.
    """
    stakes = np.full(N_ALTERNATIVES, -np.inf)
    for count in range(1, 6):
        stakes = next_stakes(stakes, count, np.zeros(N_ALTERNATIVES))
        assert math.isclose(log_evidence(stakes, count), 0.0, abs_tol=1e-12)
        assert math.isclose(float(np.exp(stakes).sum()), count / (count + 1.0))
    first = next_stakes(np.full(N_ALTERNATIVES, -np.inf), 1, np.log(3.0) * np.ones(N_ALTERNATIVES))
    assert math.isclose(math.exp(log_evidence(first, 1)), 0.5 * 3.0 + 0.5)


def test_a_factor_is_the_ratio_of_likelihoods_at_the_rate_claimed_that_is_nearest():
    """Claimed from .4 to .6 around .5: rates above are held against .6, below against .4, within
    against nothing.
    """
    found = log_factors(OFF, np.full(2, -0.1), np.full(2, 0.1))
    for (shift, _), one in zip(ALTERNATIVES, found, strict=True):
        q = 1.0 / (1.0 + math.exp(-shift))
        r = min(max(q, 0.4), 0.6)
        assert math.isclose(
            one, 9.0 * math.log(q / r) + math.log((1.0 - q) / (1.0 - r)), abs_tol=1e-9
        )


def test_the_expected_factor_is_one():
    """Over the hits of three rows at .4."""
    mean = np.zeros(N_ALTERNATIVES)
    for hits in range(4):
        sums = np.array([[3.0, 1.2, hits]])
        mean += (
            math.comb(3, hits)
            * 0.4**hits
            * 0.6 ** (3 - hits)
            * np.exp(log_factors(sums, np.zeros(1), np.zeros(1)))
        )
    np.testing.assert_allclose(mean, 1.0, rtol=1e-9)


def test_the_alarm_is_on_from_its_threshold_on():
    evidence = _told(0.5).evidence_
    assert evidence > 2.0
    assert not _told((1.0 - 1e-9) / evidence).alarm_
    assert _told((1.0 + 1e-9) / evidence).alarm_
    monitor = _told(0.5)
    assert monitor.threshold_ == 2.0
    assert math.isclose(monitor.p_value_, 1.0 / evidence)


def test_with_a_reference_the_bets_have_half_of_alpha():
    """A reference of so few rows that it claims nothing but what it can: the threshold is 2 /
    alpha, and the p-value twice as large.
    """
    reference = np.array([[1000.0, 500.0, 500.0], [0.0, 0.0, 0.0]])
    evidence = _told(0.5, reference=reference).evidence_
    assert _told(0.5, reference=reference).threshold_ == 4.0
    # The band moves with alpha, so the threshold alone is moved here.
    at = _told(0.5, reference=reference)
    assert math.isclose(at.p_value_, min(2.0 / evidence, 1.0))
    monitor = cb.monitoring.CalibrationMonitor(alpha=0.5, tolerance=0.0).fit_sums(reference)
    monitor.threshold_ = evidence * (1.0 - 1e-9)
    assert monitor.update_sums(OFF).alarm_
    monitor = cb.monitoring.CalibrationMonitor(alpha=0.5, tolerance=0.0).fit_sums(reference)
    monitor.threshold_ = evidence * (1.0 + 1e-9)
    assert not monitor.update_sums(OFF).alarm_


def test_the_claim_of_a_reference_by_hand():
    """Each of two bins that have rows has an exact interval at alpha / 4; the empty one claims
    nothing.
    """
    reference = np.array([[20.0, 8.0, 10.0], [10.0, 9.0, 10.0], [0.0, 0.0, 0.0]])
    monitor = cb.monitoring.CalibrationMonitor(alpha=0.08, tolerance=0.01).fit_sums(reference)
    low, high = clopper_pearson(np.array([10.0, 10.0]), np.array([20.0, 10.0]), 0.98)
    np.testing.assert_allclose(monitor.low_, [low[0] - 0.4 - 0.01, low[1] - 0.9 - 0.01, -1.01])
    np.testing.assert_allclose(monitor.high_, [high[0] - 0.4 + 0.01, high[1] - 0.9 + 0.01, 1.01])
    assert math.isclose(monitor.threshold_, 25.0)


def test_the_p_value_and_the_alarm_remember_the_largest_evidence():
    back = np.array([[200.0, 100.0, 100.0], [0.0, 0.0, 0.0]])
    monitor = _told(0.5, (OFF, back))
    first, second = monitor.path_
    assert second < first
    assert math.isclose(monitor.p_value_, math.exp(-first))
    assert math.isclose(monitor.log_evidence_, second)
    assert monitor.alarm_time_ == 0
    assert _told(0.5, (back,)).p_value_ == 1.0
    assert monitor.n_ == 210.0


def test_the_growth_since_each_batch_and_its_likeliest_start():
    """Growth of 0, 5 and 1 from three batches; the stakes there are 1/2, 1/6 and 1/12 of the
    money.
    """
    factors = np.log(np.array([[1.0, 1.0], [3.0, 9.0], [0.5, 1.0]]))
    np.testing.assert_allclose(np.exp(growth_since(factors)), [1.5 + 9.0, 1.5 + 9.0, 1.5])
    assert likeliest_start(np.log(np.array([1.0, 2.9, 1.0]))) == 0
    assert likeliest_start(np.log(np.array([1.0, 3.1, 1.0]))) == 1
    assert likeliest_start(np.log(np.array([1.0, 3.1, 6.3]))) == 2


def test_slices_share_alpha():
    """Each of two slices at alpha / 2: its threshold is twice that of all rows."""
    p, y = np.full(40, 0.5), np.tile([0, 1], 20)
    time, of = np.repeat([0, 1], 20), np.tile(["a", "a", "b", "b"], 10)
    import polars as pl

    table = pl.DataFrame({"p": p, "y": y, "day": time, "site": of})
    found = cb.monitor(
        cb.evaluate(table, probabilities="p", label="y", by=["site", "day"]), alpha=0.1
    )
    assert math.isclose(found.overall.threshold_, 10.0)
    assert [math.isclose(one.threshold_, 20.0) for one in found.slices.values()] == [True, True]
