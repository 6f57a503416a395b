"""The gain of a re-fit from sums, against the gain seen on new rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.online import cell_shares
from calibrant.monitoring.claims import (
    _out_of_fold,
    forecast_refit_gain,
    refit_gain,
    reweighted_gain,
)


def rows(n, sharp, seed):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    rate = 1.0 / (1.0 + ((1.0 - p) / p) ** sharp)
    return p, (rng.uniform(size=n) < rate).astype(int)


def sums_of(p, y):
    return cb.monitoring.CalibrationMonitor(target="event", n_bins=50).update(p, y).batches_[0]


def test_it_is_what_new_rows_show():
    p, y = rows(20_000, 0.5, 0)
    gain, error = refit_gain(sums_of(p, y))
    new, y_new = rows(20_000, 0.5, 1)
    calibrated = cb.Platt().fit(p, y).predict(new)
    seen = metrics.log_loss(y_new, new) - metrics.log_loss(y_new, calibrated)
    assert gain == pytest.approx(seen, abs=3.0 * error + 0.002)
    assert gain > 10.0 * error


def test_nothing_is_gained_where_nothing_is_wrong_and_it_says_the_same_twice():
    sums = sums_of(*rows(500, 1.0, 0))
    gain, error = refit_gain(sums)
    assert gain < error
    assert refit_gain(sums) == (gain, error)


@pytest.mark.parametrize(
    "sums", [[[30.0, 30.0, 30.0]], [[20.0, 0.0, 20.0]], [[25.0, 20.0, 12.0], [0.0, 0.0, 0.0]]]
)
def test_few_rows_and_certainty_stay_finite(sums):
    assert np.isfinite(refit_gain(np.array(sums))).all()


def test_of_forecasts_it_is_what_the_cells_of_new_rows_show():
    levels, rng = np.array([0.1, 0.5, 0.9]), np.random.default_rng(0)
    cells = cell_shares(levels, np.array([0.3]), np.array([1.5]))[0]
    gain, error = forecast_refit_gain(rng.multinomial(20_000, cells).astype(float), levels)
    claimed = np.array([0.1, 0.4, 0.4, 0.1])
    assert gain == pytest.approx(cells @ np.log(cells / claimed), abs=4.0 * error)
    assert gain > 10.0 * error
    gain, error = forecast_refit_gain(rng.multinomial(500, claimed).astype(float), levels)
    assert gain < error
    assert np.isfinite(forecast_refit_gain(np.array([30.0, 0.0, 0.0, 0.0]), levels)).all()


def test_each_row_counts_at_the_gain_of_a_fit_on_the_other_folds():
    counts, value = np.array([30.0, 12.0, 0.0, 58.0]), np.array([1.0, -2.0, 50.0, 0.25])
    mean, error = _out_of_fold(counts, lambda rest: value)
    rows = np.repeat(value, counts.astype(int))
    assert (mean, error) == (pytest.approx(rows.mean()), pytest.approx(rows.std(ddof=1) / 10.0))
    seen = []

    def gain(rest):
        seen.append(rest)
        return rest

    mean, _ = _out_of_fold(counts, gain)
    own = counts - np.array(seen)
    assert own.shape == (5, 4)
    assert own.sum(axis=0).tolist() == counts.tolist()
    assert (own >= 0.0).all()
    assert own[:, 3].max() < 30.0
    assert mean == pytest.approx((own * np.array(seen)).sum() / 100.0)
    assert _out_of_fold(np.array([1.0]), lambda rest: np.array([2.0])) == (2.0, 0.0)


def test_the_gain_of_a_bin_is_the_difference_of_its_log_likelihoods():
    """Five bins on the sigmoid of half the log-odds: every fold finds it but for noise, and the
    gain is what it says, bin by bin.
    """
    score, n = np.array([0.05, 0.2, 0.5, 0.8, 0.95]), 40_000.0
    rate = 1.0 / (1.0 + np.sqrt((1.0 - score) / score))
    gain, error = refit_gain(np.column_stack([np.full(5, n), n * score, n * rate]))
    expected = rate * np.log(rate / score) + (1.0 - rate) * np.log((1.0 - rate) / (1.0 - score))
    assert gain == pytest.approx(expected.mean(), abs=2e-4)
    each = np.stack([np.log(rate / score), np.log((1.0 - rate) / (1.0 - score))])
    spread = np.average((each - gain) ** 2, weights=np.stack([rate, 1.0 - rate]))
    assert error == pytest.approx(np.sqrt(spread / (5.0 * n)), rel=0.01)


def test_fits_to_earlier_rows_are_weighted_to_the_new_scores():
    """Right for the low scores and wrong for the high ones: earlier rows repair where the new ones
    are, if weighted.
    """
    n, score, rate = np.full(4, 4000.0), np.array([0.2, 0.4, 0.6, 0.8]), [0.2, 0.4, 0.9, 0.97]
    earlier = np.column_stack([n * [10, 10, 1, 1], n * [10, 10, 1, 1] * score, 0 * n])
    earlier[:, 2] = earlier[:, 0] * rate
    new = np.column_stack([n * [0.1, 0.1, 1, 1], n * [0.1, 0.1, 1, 1] * score, 0 * n])
    new[:, 2] = new[:, 0] * rate
    gain, error = reweighted_gain(earlier, new)
    best, _ = refit_gain(new)
    assert gain == pytest.approx(best, abs=3.0 * error + 0.002)
    assert gain > 10.0 * error
