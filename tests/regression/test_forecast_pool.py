"""The pool of calibrators of forecasts: who has the weight, and how much stays with doing
nothing.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.calibrators.evidence import (
    FORECAST_RATE,
    FORECAST_TRUST,
    MOST_NATS,
    forecast_pool,
    gain_in_errors,
)
from calibrant.calibrators.held_out import HeldOutForecasts
from calibrant.core.forecast_record import ForecastRecord

FOLDS = 4


def _held(n, factors, true=1.0, outcomes=None):
    """Candidates that say the true std times each factor, doing nothing the first."""
    rng = np.random.default_rng(0)
    mean, std, folds = (
        rng.normal(size=n),
        np.exp(0.3 * rng.normal(size=n)),
        rng.integers(0, FOLDS, n),
    )
    y = mean + true * std * rng.normal(size=n) if outcomes is None else outcomes
    said = [
        [cb.NormalForecast(mean, factor * std).take(folds == k) for k in range(FOLDS)]
        for factor in factors
    ]
    return HeldOutForecasts(
        ForecastRecord(cb.NormalForecast(mean, std), y, np.ones(n)), folds, said, "nll"
    )


def test_the_best_has_the_weight_and_equals_share():
    shares = forecast_pool(_held(2000, [3.0, 1.0, 1.0, 1.5])).shares
    assert shares[1] == shares[2] == pytest.approx(0.5)


def test_weights_fall_with_the_score():
    held = _held(60, [3.0, 1.0, 1.2])
    shares = forecast_pool(held).shares
    apart = (held.scores[2] - held.scores[1]).sum()
    assert np.log(shares[1] / shares[2]) == pytest.approx(FORECAST_RATE * apart)


def test_doing_nothing_keeps_the_probability_that_it_is_better():
    held = _held(40, [1.0, 0.8, 0.9])
    pool = forecast_pool(held)
    without = np.append(0.0, pool.shares[1:] / pool.shares[1:].sum())
    gains = []
    for score in ("crps", "nll"):
        gap = held.losses(np.array([1.0, 0.0, 0.0]), score) - held.losses(without, score)
        gap = np.clip(gap, -MOST_NATS, MOST_NATS) if score == "nll" else gap
        gains.append(gap.mean() / (gap.std() / np.sqrt(len(gap) - 1.0)))
    assert pool.gain_in_errors == pytest.approx(np.mean(gains))
    assert pool.shares[0] == pytest.approx(stats.norm.sf(FORECAST_TRUST * np.mean(gains)))


def test_error_bars_that_are_too_narrow_show_in_the_tails():
    """The log loss has more evidence of them than the CRPS, so the pool's share is larger."""
    held = _held(60, [0.6, 1.0])
    gap = held.losses(np.array([1.0, 0.0]), "crps") - held.losses(np.array([0.0, 1.0]), "crps")
    in_crps = gap.mean() / (gap.std() / np.sqrt(len(gap) - 1.0))
    pool = forecast_pool(held)
    assert pool.gain_in_errors > in_crps
    assert pool.shares[0] < stats.norm.sf(FORECAST_TRUST * in_crps)


def test_a_clear_loss_in_crps_is_not_outweighed():
    """A larger std for rare far outcomes saves nats and costs CRPS; it is not used."""
    n, rng = 1000, np.random.default_rng(3)
    y, zero = np.where(np.arange(n) % 5 == 0, 6.0, 0.3) * rng.normal(size=n), np.zeros(n)
    said = [[cb.NormalForecast(zero, np.full(n, std))] for std in (1.0, 1.2)]
    record = ForecastRecord(cb.NormalForecast(zero, np.ones(n)), y, np.ones(n))
    held = HeldOutForecasts(record, np.zeros(n, dtype=int), said, "nll")
    crps, nll = (gain_in_errors(held, np.array([0.0, 1.0]), score) for score in ("crps", "nll"))
    assert crps < -5.0 < 2.0 < nll
    assert forecast_pool(held).members == [0]


def test_one_outlier_is_no_evidence():
    """Nats are counted up to a limit, so that a single row does not outweigh all others."""
    n, rng = 200, np.random.default_rng(2)
    y = rng.normal(size=n)
    y[0] = 40.0
    said = [[cb.NormalForecast(np.zeros(n), np.full(n, std))] for std in (1.0, 1.6)]
    record = ForecastRecord(cb.NormalForecast(np.zeros(n), np.ones(n)), y, np.ones(n))
    held = HeldOutForecasts(record, np.zeros(n, dtype=int), said, "nll")
    assert held.scores[1].mean() < held.scores[0].mean()
    assert forecast_pool(held).shares[0] > 0.9


def test_alone_or_surely_worse_nothing_is_done_and_equal_is_half():
    assert forecast_pool(_held(50, [1.0])).members == [0]
    assert forecast_pool(_held(2000, [1.0, 0.3])).members == [0]
    equal = forecast_pool(_held(50, [1.0, 1.0]))
    assert (equal.shares.tolist(), equal.gain_in_errors) == ([0.5, 0.5], 0.0)
