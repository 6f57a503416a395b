"""Every kind of forecast, of one output and of two, says the same of itself in every way it can
be asked.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.core.conformal_forecast import averaged
from calibrant.core.forecast_record import as_forecast
from calibrant.errors import InputError

LEVELS = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])


def _kinds(shape):
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=shape), np.exp(0.3 * rng.normal(size=shape))
    normal = cb.NormalForecast(mean, std)
    rest = cb.NormalForecast(mean[:50] + 0.0, 2.0 * std[:50])
    fitted = mean[:50] + std[:50] * rng.normal(size=mean[:50].shape)
    parts = cb.regression.DistributionRecalibration(shape="student").fit(rest, fitted)
    return {
        "normal": normal,
        "quantiles": cb.QuantileForecast(LEVELS, normal.quantile(LEVELS)),
        "samples": cb.regression.SampleForecast(normal.sample(40, 1)),
        "student": cb.regression.StudentForecast(mean, std, 5.0),
        "scipy t": as_forecast(stats.t(5, loc=mean, scale=std)),
        "scipy gamma": as_forecast(stats.gamma(np.exp(mean) + 1.0, scale=std)),
        "stretched": as_forecast(stats.t(5, loc=mean, scale=std)).stretched(2.0),
        "recalibrated": cb.regression.IntervalCalibration().fit(rest, fitted).predict(normal),
        "recalibrated by parts": parts.predict(as_forecast(stats.t(5, loc=mean, scale=std))),
        "averaged": averaged(
            [parts.predict(normal), as_forecast(stats.t(5, loc=mean, scale=std))],
            np.array([0.4, 0.6]),
        ),
    }


@pytest.mark.parametrize("shape", [(90,), (90, 2)], ids=["one output", "two outputs"])
@pytest.mark.parametrize("kind", list(_kinds((90,))))
def test_it_agrees_with_itself(kind, shape):
    forecast = _kinds(shape)[kind]
    assert forecast.shape == shape == forecast.mean.shape == forecast.std.shape
    for q in (0.05, 0.35, 0.8):
        np.testing.assert_allclose(forecast.cdf(forecast.quantile(q)), q, atol=1e-9)
    low, high = forecast.interval(0.6)
    np.testing.assert_allclose(np.stack([low, high], axis=-1), forecast.quantile([0.2, 0.8]))
    draws = forecast.sample(2000, random_state=2)
    assert draws.shape == (*shape, 2000)
    np.testing.assert_allclose(draws.mean(axis=-1), forecast.mean, atol=0.35 * forecast.std.max())
    np.testing.assert_allclose(forecast.take([3, 1]).mean, forecast.mean[[3, 1]])
    step = 1e-5 * forecast.std
    y = forecast.quantile(0.3723)  # on no knot of any kind
    slope = (forecast.cdf(y + step) - forecast.cdf(y - step)) / (2.0 * step)
    assert np.median(np.abs(np.log(slope) - forecast.log_density(y))) < 1e-4


@pytest.mark.parametrize("kind", list(_kinds((90,))))
def test_each_output_is_its_own_for_metrics_and_calibrators(kind):
    forecast = _kinds((90, 2))[kind]
    y = forecast.sample(1, random_state=3)[..., 0]
    both = metrics.continuous_ranked_probability_score(y, forecast)
    assert both.tolist() == [
        metrics.continuous_ranked_probability_score(y[:, j], forecast.column(j)) for j in range(2)
    ]
    cal = cb.StdScaling().fit(forecast, y)
    assert cal.scale_.tolist() == [
        cb.StdScaling().fit(forecast.column(j), y[:, j]).scale_ for j in range(2)
    ]
    np.testing.assert_allclose(cal.predict(forecast).std, cal.scale_ * forecast.std)


def test_a_distribution_without_mean_is_used_by_its_quantiles_and_refused_otherwise():
    cauchy = stats.cauchy(np.zeros(60), np.ones(60))
    y = np.linspace(-3.0, 3.0, 60)
    assert np.isfinite(metrics.negative_log_likelihood(y, cauchy))
    assert np.isfinite(
        cb.regression.QuantileRecalibration().fit(cauchy, y).predict(cauchy).quantile(0.9)
    ).all()
    with pytest.raises(InputError, match="use quantile-based methods"):
        cb.StdScaling().fit(cauchy, y)


def test_a_repr_says_kind_and_shape():
    assert repr(cb.NormalForecast([0.0] * 1200, [1.0] * 1200)) == "<NormalForecast: 1,200 rows>"
    assert (
        repr(cb.NormalForecast([[0.0, 1.0]] * 2, [[1.0, 1.0]] * 2))
        == "<NormalForecast: 2 rows of 2 outputs>"
    )
