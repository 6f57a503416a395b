"""The mean of forecasts, quantile by quantile: its density is that of its quantiles, and of
normal ones it is normal.
"""

import numpy as np
from scipy import stats

import calibrant as cb
from calibrant.core.conformal_forecast import AveragedForecast, averaged
from calibrant.core.forecast import RecalibratedForecast
from calibrant.core.forecast_record import as_forecast


def test_of_normal_forecasts_it_is_the_normal_of_the_means():
    a, b = cb.NormalForecast([0.0, 1.0], [1.0, 2.0]), cb.NormalForecast([2.0, 2.0], [3.0, 1.0])
    weights = np.array([0.25, 0.75])
    normal, general = averaged([a, b], weights), AveragedForecast([a, b], weights)
    assert isinstance(normal, cb.NormalForecast)
    y = np.array([0.7, -3.0])
    for one in (normal, general):
        np.testing.assert_allclose(one.mean, [1.5, 1.75])
        np.testing.assert_allclose(one.std, [2.5, 1.25], rtol=1e-6)
        np.testing.assert_allclose(
            one.log_density(y), stats.norm.logpdf(y, [1.5, 1.75], [2.5, 1.25])
        )
    assert averaged([a], np.ones(1)) is a


def test_scores_are_found_far_out_and_between_unlike_members():
    n = 40
    t, gamma = as_forecast(stats.t(3, loc=np.zeros(n))), as_forecast(stats.gamma(np.full(n, 0.5)))
    forecast = AveragedForecast([t, gamma], np.array([0.6, 0.4]))
    z = np.linspace(-6.0, 6.0, n)
    y = forecast.at(z[:, None])[:, 0]
    np.testing.assert_allclose(forecast.score(y), z, atol=1e-8)
    far = np.linspace(1e3, 1e6, n)
    np.testing.assert_allclose(forecast.at(forecast.score(far)[:, None])[:, 0], far, rtol=1e-6)


def test_a_large_mean_does_not_round_the_spread_away():
    knots, values, slopes = np.array([-1.0, 1.0]), np.array([-1.5, 2.0]), np.array([1.0, 2.0])

    def spread(mean):
        base = cb.NormalForecast([mean], [1.0])
        bent = RecalibratedForecast(base, knots, values, slopes)
        one = AveragedForecast([bent, base], np.array([0.5, 0.5]))
        return one.std, AveragedForecast([one.stretched(2.0), base], np.array([0.5, 0.5])).std

    for mean in (1e10, 1e15, 1e30, -1e30):
        np.testing.assert_allclose(spread(mean), spread(0.0), rtol=1e-12)
