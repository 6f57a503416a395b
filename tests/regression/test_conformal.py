"""The coverage of conformal intervals, exactly."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


def test_the_order_statistic_is_exact():
    scores = np.arange(1.0, 20.0)  # n = 19: ceil(20 * 0.9) = 18th, ceil(20 * 0.95) = 19th, ceil(20 * 0.96) = 20th: none
    cal = cb.ConformalIntervals(score="absolute").fit(np.zeros(19), scores, std=np.ones(19))
    reach = [float(cal.predict([0.0], [1.0]).interval(level)[1][0]) for level in (0.9, 0.91, 0.95, 0.96)]
    assert reach == [18.0, 19.0, 19.0, np.inf]


@pytest.mark.parametrize("score", ["scaled", "absolute", "quantile"])
def test_coverage_over_calibration_sets_is_between_level_and_one_rank_more(score):
    rng = np.random.default_rng(0)
    n, level, runs = 25, 0.8, 3000
    held = 0.0
    mean, std = np.zeros((runs, n + 40)), rng.uniform(0.5, 2.0, (runs, n + 40))
    y = std**2 * rng.standard_t(3, (runs, n + 40))
    for k in range(runs):
        cal = cb.ConformalIntervals(score=score, levels=(level,)).fit(mean[k, :n], y[k, :n], std=std[k, :n])
        low, high = cal.predict(mean[k, n:], std[k, n:]).interval(level)
        held += np.mean((low <= y[k, n:]) & (y[k, n:] <= high)) / runs
    rank = np.ceil((n + 1) * level)
    assert held == pytest.approx(rank / (n + 1), abs=0.006)


def test_cdf_and_interval_agree():
    rng = np.random.default_rng(0)
    cal = cb.ConformalIntervals().fit(np.zeros(200), rng.normal(size=200), std=np.ones(200))
    forecast = cal.predict([0.0], [1.0])
    for level in (0.3, 0.7, 0.9):
        low, high = forecast.interval(level)
        assert forecast.cdf(high)[0] - forecast.cdf(low)[0] == pytest.approx(level, abs=0.011)


def test_quantile_intervals_at_other_levels_are_refused():
    cal = cb.ConformalIntervals(score="quantile").fit([0.0] * 30, np.linspace(-2, 2, 30), std=[1.0] * 30)
    with pytest.raises(InputError, match="one of those fitted"):
        cal.predict([0.0], [1.0]).interval(0.85)
    with pytest.raises(InputError, match="score"):
        cb.ConformalIntervals(score="other").fit([0.0], [0.0], std=[1.0])
