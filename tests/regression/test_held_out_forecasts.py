"""Held-out forecasts: scores of every mean of their quantiles."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.calibrators.held_out import HeldOutForecasts
from calibrant.core.forecast_record import ForecastRecord

SCORES = {
    "nll": metrics.negative_log_likelihood,
    "crps": metrics.continuous_ranked_probability_score,
}


def _held(objective, n=200):
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
    forecast, y = cb.NormalForecast(mean, std), mean + std * rng.normal(size=n)
    folds = rng.integers(0, 4, n)
    wide, narrow = cb.NormalForecast(mean, 2.0 * std), cb.NormalForecast(mean - 0.3, 0.5 * std)
    said = [[f.take(folds == k) for k in range(4)] for f in (wide, narrow, forecast)]
    return (
        HeldOutForecasts(ForecastRecord(forecast, y, np.ones(n)), folds, said, objective),
        (wide, narrow, forecast),
        y,
    )


@pytest.mark.parametrize("objective", ["nll", "crps"])
def test_scores_of_a_mean_are_those_of_its_quantiles(objective):
    held, (wide, narrow, _), y = _held(objective)
    mean = cb.NormalForecast(0.4 * wide.mean + 0.6 * narrow.mean, 0.4 * wide.std + 0.6 * narrow.std)
    expected = SCORES[objective].losses_of(ForecastRecord(mean, y))
    np.testing.assert_allclose(held.losses(np.array([0.4, 0.6, 0.0])), expected, rtol=1e-9)
    np.testing.assert_allclose(held.only([0, 1]).losses(np.array([0.4, 0.6])), expected, rtol=1e-9)
    np.testing.assert_allclose(
        held.scores[2], SCORES[objective].losses_of(ForecastRecord(held_forecast(held, 2), y))
    )
    for score, metric in SCORES.items():
        np.testing.assert_allclose(
            held.losses(np.array([0.4, 0.6, 0.0]), score),
            metric.losses_of(ForecastRecord(mean, y)),
            rtol=1e-9,
        )


def held_forecast(held, j):
    mean, std = np.empty(len(held.y)), np.empty(len(held.y))
    for rows, part in zip(held.rows, held.forecasts[j], strict=True):
        mean[rows], std[rows] = part.mean, part.std
    return cb.NormalForecast(mean, std)
