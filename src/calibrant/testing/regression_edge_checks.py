"""The contract of a regression calibrator at the edges: data that break other tools."""

import numpy as np
from sklearn.base import clone

from calibrant.errors import InputError
from calibrant.forecasts.normal import NormalForecast
from calibrant.testing.check import seeded
from calibrant.testing.regression_data import forecast_problems
from calibrant.testing.regression_runs import numbers_of, valid

__all__ = ["EDGE_CHECKS"]


def check_few_rows(calibrator):
    """n = 1 and n = 2."""
    data = forecast_problems()[0]
    for n in (1, 2):
        fresh = seeded(clone(calibrator)).fit(data.forecast.take(slice(0, n)), data.y[:n])
        forecast = fresh.predict(data.test)
        assert (forecast.std > 0.0).all(), f"a std is not positive after {n} rows"
        assert np.isfinite([forecast.mean, forecast.std]).all(), f"not finite after {n} rows"
        low, high = forecast.interval(0.8)
        assert (low <= high).all(), f"an interval is upside down after {n} rows"


def check_constant_std(calibrator):
    """Every row with the same std, and every row with the same mean and std."""
    data = forecast_problems()[0]
    for mean in (data.forecast.mean, np.zeros(len(data.y))):
        fresh = seeded(clone(calibrator)).fit(mean, data.y, std=np.ones(len(mean)))
        valid(fresh.predict(data.test), data.y_test, data.test.shape, "after a constant std")


def check_no_error(calibrator):
    """Outcomes exactly as predicted leave the distributions finite, with positive std."""
    data = forecast_problems()[0]
    fresh = seeded(clone(calibrator)).fit(data.forecast, data.forecast.mean.copy())
    forecast = fresh.predict(data.test)
    assert np.isfinite(numbers_of(forecast, data.y_test)).all(), "not finite after outcomes without error"
    assert (forecast.std > 0.0).all(), "a std is not positive after outcomes without error"


def check_wild_errors(calibrator):
    """Outcomes a thousand std away, where a CDF is exactly 0 or 1, are calibrated for what they are."""
    data = forecast_problems()[0]
    wild = data.forecast.mean + 1000.0 * (data.y - data.forecast.mean)
    forecast = seeded(clone(calibrator)).fit(data.forecast, wild).predict(data.forecast)
    valid(forecast, wild, wild.shape, "after wild errors")
    low, high = forecast.interval(0.8)
    share = float(np.mean((low <= wild) & (wild <= high)))
    assert 0.65 <= share <= 0.95, f"after wild errors the 80 % intervals hold {share:.0%}"


def check_coverage(calibrator):
    """Intervals of normal forecasts that were too narrow hold about what they say, on new rows."""
    rng = np.random.default_rng(3)
    mean, std = rng.normal(size=4000), np.exp(0.3 * rng.normal(size=4000))
    y = mean + 2.0 * std * rng.normal(size=4000)
    forecast = seeded(clone(calibrator)).fit(mean[:2000], y[:2000], std=std[:2000]).predict(mean[2000:], std[2000:])
    for level in (0.5, 0.8):
        low, high = forecast.interval(level)
        share = float(np.mean((low <= y[2000:]) & (y[2000:] <= high)))
        assert abs(share - level) < 0.05, f"the {level:.0%} intervals hold {share:.1%}"


def check_bad_std(calibrator):
    """A std of 0 is refused, and the row is named."""
    for std in (0.0, np.nan, -1.0):
        try:
            seeded(clone(calibrator)).fit(NormalForecast([0.0, 0.0], [1.0, 1.0]).mean, [0.0, 1.0], std=[1.0, std])
        except InputError as error:
            if "row 1" not in str(error):
                raise AssertionError(f"the message does not name the row: {error}") from error
        else:
            raise AssertionError(f"a std of {std} must raise InputError")


EDGE_CHECKS = (
    check_few_rows, check_constant_std, check_no_error, check_wild_errors, check_coverage, check_bad_std,
)  # fmt: skip
