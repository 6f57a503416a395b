"""Forecasts of bounded outcomes keep their support, their moments, and are calibrated on new
rows.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.core.quantile_forecast import BoundedForecast, Bounds
from calibrant.errors import InputError

SCALES = {"above": Bounds(0.0, None), "below": Bounds(None, 0.0), "between": Bounds(-1.0, 3.0)}


def _inside(bounds, n=50):
    rng = np.random.default_rng(0)
    return bounds.back(0.5 * rng.normal(size=n)), rng.uniform(0.05, 0.4, n)


@pytest.mark.parametrize("bounds", SCALES.values(), ids=SCALES)
def test_mean_and_std_are_kept_by_the_normal_on_the_open_scale(bounds):
    mean, std = _inside(bounds)
    opened = bounds.normal_of(mean, std)
    found = BoundedForecast(opened, bounds)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.std, std, rtol=1e-8)
    draws = bounds.back(opened.sample(20_000, random_state=0))
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)


@pytest.mark.parametrize("bounds", SCALES.values(), ids=SCALES)
def test_the_density_is_the_slope_of_the_cdf_and_none_lies_outside(bounds):
    mean, std = _inside(bounds)
    found = BoundedForecast(bounds.normal_of(mean, std), bounds)
    y, step = found.quantile(0.37), 1e-6 * std
    np.testing.assert_allclose(
        np.log((found.cdf(y + step) - found.cdf(y - step)) / (2.0 * step)),
        found.log_density(y),
        atol=1e-5,
    )
    for end, share in ((bounds.lower, 0.0), (bounds.upper, 1.0)):
        if end is not None:
            assert (found.cdf(np.full(50, end)) == share).all()
            assert np.isneginf(found.log_density(np.full(50, end))).all()
    np.testing.assert_allclose(found.cdf(found.quantile(0.999)), 0.999, rtol=1e-8)


def test_above_a_bound_it_is_the_lognormal():
    found = BoundedForecast(cb.NormalForecast([0.3], [0.8]), Bounds(0.0, None))
    exact = stats.lognorm(0.8, scale=np.exp(0.3))
    np.testing.assert_allclose(
        [found.mean[0], found.std[0]], [exact.mean(), exact.std()], rtol=1e-12
    )
    np.testing.assert_allclose(found.log_density([2.0]), exact.logpdf(2.0), rtol=1e-12)


@pytest.mark.parametrize(
    "calibrator", [None, cb.regression.QuantileRecalibration()], ids=["std scaling", "quantiles"]
)
@pytest.mark.parametrize("bounds", SCALES.values(), ids=SCALES)
def test_intervals_hold_on_new_rows_and_keep_the_support(bounds, calibrator):
    rng = np.random.default_rng(1)
    centre = rng.normal(size=3000)
    said = BoundedForecast(cb.NormalForecast(centre, np.full(3000, 0.2)), bounds)
    y = bounds.back(centre + 0.6 * rng.normal(size=3000))
    fit, new = slice(0, 1500), slice(1500, None)
    cal = cb.regression.BoundedOutcomes(calibrator, lower=bounds.lower, upper=bounds.upper).fit(
        said.mean[fit], y[fit], std=said.std[fit]
    )
    forecast = cal.predict(said.mean[new], said.std[new])
    held = metrics.interval_coverage.interval(y[new], forecast, level=0.999)
    assert held.low < 0.9 < held.high
    low, high = forecast.interval(0.999)
    assert np.isfinite(bounds.forward(low)).all()
    assert np.isfinite(bounds.forward(high)).all()
    plain = (
        cb.StdScaling()
        .fit(said.mean[fit], y[fit], std=said.std[fit])
        .predict(said.mean[new], said.std[new])
    )
    nll = metrics.negative_log_likelihood
    assert nll(y[new], forecast) < nll(y[new], plain)


def test_quantiles_samples_and_several_outputs():
    rng = np.random.default_rng(2)
    draws = np.exp(rng.normal(size=(60, 2, 30)))
    y = np.exp(rng.normal(size=(60, 2)))
    for forecast in (
        cb.regression.SampleForecast(draws),
        cb.QuantileForecast(
            [0.1, 0.5, 0.9], np.quantile(draws, [0.1, 0.5, 0.9], axis=2).transpose(1, 2, 0)
        ),
    ):
        cal = cb.regression.BoundedOutcomes().fit(forecast, y)
        assert cal.predict(forecast).interval(0.99)[0].min() > 0.0
        assert (
            cal.predict(forecast).column(1).mean.tolist()
            == cal.predict(forecast).mean[:, 1].tolist()
        )


@pytest.mark.parametrize("bounds", SCALES.values(), ids=SCALES)
def test_it_is_saved_with_what_it_holds(bounds, tmp_path):
    mean, std = _inside(bounds)
    cal = cb.regression.BoundedOutcomes(lower=bounds.lower, upper=bounds.upper).fit(
        mean, bounds.back(bounds.forward(mean) + 0.1), std=std
    )
    again = cb.load(cal.save(tmp_path / "cal"))
    np.testing.assert_array_equal(
        again.predict(mean, std).interval(0.9), cal.predict(mean, std).interval(0.9)
    )


def test_what_cannot_be_is_refused_with_its_row():
    with pytest.raises(InputError, match=r"y must be above 0; row 1 is 0\. .1 in all"):
        cb.regression.BoundedOutcomes().fit([1.0, 1.0], [1.0, 0.0], std=[1.0, 1.0])
    with pytest.raises(InputError, match=r"the mean must be above 0 and below 1; row 0"):
        cb.regression.BoundedOutcomes(upper=1.0).fit([1.5, 0.5], [0.5, 0.5], std=[0.1, 0.1])
    with pytest.raises(
        InputError, match="std must be possible for a distribution from 0 to 1; row 1"
    ):
        cb.regression.BoundedOutcomes(upper=1.0).fit([0.5, 0.5], [0.5, 0.5], std=[0.1, 0.6])
    for lower, upper in ((None, None), (1.0, 0.0), (np.nan, None), ("0", None)):
        with pytest.raises(InputError, match="lower and upper must be numbers in this order"):
            cb.regression.BoundedOutcomes(lower=lower, upper=upper).fit([1.0], [1.0], std=[1.0])
    with pytest.raises(InputError, match="a calibrator of forecasts"):
        cb.regression.BoundedOutcomes(cb.TemperatureScaling()).fit([1.0], [1.0], std=[1.0])
