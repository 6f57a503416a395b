"""Forecasts as they are, in every form."""

import numpy as np

import calibrant as cb


def test_what_is_said_stays_as_it_is():
    quantiles = cb.QuantileForecast([0.1, 0.5, 0.9], [[0.0, 1.0, 4.0], [2.0, 3.0, 5.0]])
    samples = cb.regression.SampleForecast(np.random.default_rng(0).normal(size=(2, 3, 50)))
    for forecast in (quantiles, samples):
        fitted = cb.regression.ForecastIdentity().fit(forecast, np.zeros(forecast.shape))
        predicted = fitted.predict(forecast)
        np.testing.assert_array_equal(predicted.quantile([0.1, 0.7]), forecast.quantile([0.1, 0.7]))
        assert fitted.status_ == "exact"
