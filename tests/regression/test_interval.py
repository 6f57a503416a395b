"""Interval calibration: closed moments with both tails, shapes put right, far outcomes kept."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import calibrant as cb


def _skewed(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    mean, std = 5.0 * rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return mean, std, mean + std * (rng.exponential(size=n) - 0.5) * 2.0


def _integral(function, points):
    return sum(
        integrate.fixed_quad(np.vectorize(function), a, b, n=5)[0] for a, b in pairwise(points)
    )


@pytest.mark.parametrize(("mu", "sigma"), [(0.3, 1.0), (-40.0, 2.5)])
def test_mean_and_variance_are_the_integrals_of_the_recalibrated_cdf(mu, sigma):
    mean, std, y = _skewed(100)
    cal = cb.regression.IntervalCalibration().fit(mean, y, std=std)
    forecast = cal.predict([mu], [sigma])

    def below(u):
        return float(forecast.cdf(np.array([mu + u]))[0])

    # Of Y - mu: E = int_0^inf (1 - F) - int_-inf^0 F and E square = 2 int_0^inf u (1 - F) - 2
    # int_-inf^0 u F.
    knots = sigma * np.asarray(cal.values_)
    tail = np.linspace(0.0, 25.0 * sigma, 120)[1:]
    up = np.concatenate([[0.0], knots[knots > 0.0], knots[-1] + tail])
    down = np.concatenate([knots[0] - tail[::-1], knots[knots < 0.0], [0.0]])
    first = _integral(lambda u: 1.0 - below(u), up) - _integral(below, down)
    second = 2.0 * _integral(lambda u: u * (1.0 - below(u)), up) - 2.0 * _integral(
        lambda u: u * below(u), down
    )
    assert forecast.mean[0] == pytest.approx(mu + first, abs=1e-6 * sigma)
    assert forecast.std[0] == pytest.approx(np.sqrt(second - first**2), rel=1e-6)


def test_mean_and_std_are_the_same_two_numbers_for_every_row():
    mean, std, y = _skewed()
    forecast = cb.regression.IntervalCalibration().fit(mean, y, std=std).predict(mean, std)
    shift, factor = (forecast.mean - mean) / std, forecast.std / std
    assert np.ptp(shift) < 1e-9
    assert np.ptp(factor) < 1e-9
    assert forecast.std.std() / forecast.std.mean() == pytest.approx(std.std() / std.mean())


def test_a_skewed_shape_is_learned():
    mean, std, y = _skewed()
    new_mean, new_std, new_y = _skewed(seed=1)
    forecast = cb.regression.IntervalCalibration().fit(mean, y, std=std).predict(new_mean, new_std)
    assert stats.kstest(forecast.cdf(new_y), "uniform").statistic < 0.04
    assert (forecast.mean - new_mean).mean() / new_std.mean() == pytest.approx(1.0, abs=0.1)
    assert stats.kstest(stats.norm.cdf((new_y - new_mean) / new_std), "uniform").statistic > 0.2


def test_quantile_inverts_cdf():
    mean, std, y = _skewed(200)
    forecast = cb.regression.IntervalCalibration().fit(mean, y, std=std).predict(mean[:5], std[:5])
    for q in (1e-6, 0.01, 0.3, 0.5, 0.99):
        np.testing.assert_allclose(forecast.cdf(forecast.quantile(q)), q, rtol=1e-9)


def test_a_scipy_forecast_without_mean_is_recalibrated():
    rng = np.random.default_rng(0)
    scale = np.abs(rng.normal(size=2000))
    frozen = stats.cauchy(np.zeros(2000), scale)
    cal = cb.regression.IntervalCalibration().fit(frozen, rng.normal(size=2000))
    low, high = cal.predict(frozen).interval(0.5)
    base = frozen.ppf(0.75)
    assert np.median(np.abs(high / base - 1.0)) < 0.1
    assert (low < high).all()


def test_moments_of_a_forecast_that_is_not_normal():
    levels = np.linspace(0.05, 0.95, 19)
    rng = np.random.default_rng(0)
    values = stats.gamma(3.0).ppf(levels) + np.zeros((400, 1))
    forecast = cb.QuantileForecast(levels, values)
    cal = cb.regression.IntervalCalibration().fit(forecast, rng.gamma(3.0, size=400) * 2.0)
    out = cal.predict(forecast.take(slice(0, 3)))
    draws = out.sample(200_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=-1), out.mean, rtol=0.01)
    np.testing.assert_allclose(draws.std(axis=-1), out.std, rtol=0.01)
