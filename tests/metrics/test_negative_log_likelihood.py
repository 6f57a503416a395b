"""NLL of normal and of other forecasts."""

import numpy as np
import pytest
from scipy import stats

from calibrant import QuantileForecast, metrics
from calibrant.core.forecast_record import as_forecast

nll = metrics.negative_log_likelihood


def test_it_is_the_density_of_scipy():
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=50), rng.normal(size=50), rng.uniform(0.1, 3.0, 50)
    assert nll(y, mean, std) == pytest.approx(-stats.norm(mean, std).logpdf(y).mean(), rel=1e-12)


def test_a_scipy_distribution_and_its_far_tail():
    y = np.array([0.3, -40.0, 60.0])
    frozen = stats.t(5, loc=np.zeros(3), scale=np.ones(3))
    assert nll(y, frozen) == pytest.approx(-frozen.logpdf(y).mean(), rel=1e-9)


def test_the_quantiles_of_a_normal_have_its_density():
    levels = [0.05, 0.3, 0.5, 0.8, 0.95]
    mean, std = np.array([1.0, -2.0, 0.0]), np.array([0.5, 2.0, 1.0])
    forecast = QuantileForecast(levels, mean[:, None] + std[:, None] * stats.norm.ppf(levels))
    y = np.array([1.2, 4.0, -9.0])
    assert nll(y, forecast) == pytest.approx(nll(y, mean, std), rel=1e-9)
    np.testing.assert_allclose(forecast.mean, mean, atol=1e-12)
    np.testing.assert_allclose(forecast.std, std, rtol=1e-12)


def test_an_outcome_outside_the_support_is_infinitely_unlikely():
    frozen = stats.uniform(loc=np.zeros(3), scale=np.ones(3))
    np.testing.assert_array_equal(
        as_forecast(frozen).log_density([0.5, 2.0, -1.0]).round(12), [0.0, -np.inf, -np.inf]
    )
    assert nll([0.5, 2.0, -1.0], frozen) == np.inf
