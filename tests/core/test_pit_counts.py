"""Where outcomes fall between levels: for each kind of forecast, and what is in doubt."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.core.forecast_record import PIT_LEVELS, levels_of, pit_counts, read_forecast
from calibrant.errors import InputError


def test_of_distributions_it_is_the_histogram_of_the_pit_by_group():
    rng = np.random.default_rng(0)
    mean, std, y = rng.normal(size=200), rng.uniform(0.5, 2.0, 200), rng.normal(size=200)
    group, weight = rng.integers(0, 3, 200), rng.integers(1, 4, 200).astype(float)
    levels = np.array(PIT_LEVELS)
    found = pit_counts(read_forecast(mean, std, y, sample_weight=weight), levels, group, 3)
    u = stats.norm.cdf(y, mean, std)
    for g in range(3):
        rows = group == g
        wanted, _ = np.histogram(u[rows], [0.0, *levels, 1.0], weights=weight[rows])
        assert np.diagonal(found[g]).tolist() == wanted.tolist()
        assert np.triu(found[g], 1).sum() == 0.0
    frozen = read_forecast(stats.norm(mean, std), None, y)
    assert np.array_equal(
        pit_counts(frozen, levels), pit_counts(read_forecast(mean, std, y), levels)
    )


def test_quantiles_count_between_themselves_and_a_tie_is_in_doubt():
    forecast = cb.QuantileForecast([0.1, 0.5, 0.9], [[0.0, 0.0, 2.0]] * 4)
    found = pit_counts(read_forecast(forecast, None, [-1.0, 0.0, 2.0, 1.0]), levels_of(forecast))[0]
    wanted = np.zeros((4, 4))
    wanted[0, 0], wanted[0, 2], wanted[2, 3], wanted[2, 2] = 1.0, 1.0, 1.0, 1.0
    assert np.array_equal(found, wanted)
    with pytest.raises(InputError, match="at the same levels"):
        pit_counts(read_forecast(forecast, None, [0.5] * 4), np.array([0.2, 0.8]))


def test_an_outcome_drawn_as_the_samples_has_every_rank_alike():
    """By enumeration: the outcome in turn each of five values of which four are the samples, two
    of them tied.
    """
    values, levels = np.array([1.0, 2.0, 2.0, 5.0, 7.0]), np.array(PIT_LEVELS)
    total = np.zeros(8)
    for i in range(5):
        forecast = cb.regression.SampleForecast(np.delete(values, i)[None])
        assert np.array_equal(levels_of(forecast), levels)
        total += (
            np.diagonal(pit_counts(read_forecast(forecast, None, values[i : i + 1]), levels)[0])
            / 5.0
        )
    assert total == pytest.approx(np.diff(levels, prepend=0.0, append=1.0))
