"""A few levels, moved to where they belong."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def test_levels_are_where_that_share_of_outcomes_lies():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=5000)
    forecast = (
        cb.regression.QuantileRecalibration(n_levels=9)
        .fit(np.zeros(5000), y, std=np.ones(5000))
        .predict([0.0], [1.0])
    )
    np.testing.assert_allclose(
        forecast.quantile(np.arange(1, 10) / 10)[0],
        np.quantile(y, np.arange(1, 10) / 10),
        atol=0.01,
    )


def test_its_density_beats_the_rough_one_of_interval_calibration():
    rng = np.random.default_rng(1)
    draw = lambda: (np.zeros(300), np.ones(300), 2.0 * rng.standard_t(5, 300))  # noqa: E731
    mean, std, y = draw()
    new = draw()
    smooth, rough = (
        metrics.negative_log_likelihood(new[2], cal.fit(mean, y, std=std).predict(*new[:2]))
        for cal in (cb.regression.QuantileRecalibration(), cb.regression.IntervalCalibration())
    )
    assert smooth < rough - 0.1


def test_few_rows_only_shift():
    cal = cb.regression.QuantileRecalibration().fit(
        [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], std=[1.0, 1.0, 1.0]
    )
    assert cal.status_ == "shift only"
    forecast = cal.predict([0.0], [1.0])
    assert (forecast.mean[0], forecast.std[0]) == pytest.approx((2.0, 1.0))


def test_options():
    with pytest.raises(InputError, match="n_levels"):
        cb.regression.QuantileRecalibration(n_levels=0).fit([0.0], [1.0], std=[1.0])


def test_it_promises_of_the_levels_that_it_fits():
    y = np.random.default_rng(0).normal(size=200)
    cal = cb.regression.QuantileRecalibration().fit(np.zeros(200), y, std=np.ones(200))
    assert cal.guarantee(0.8).guarantee == "asymptotic"
    assert cal.guarantee(0.5) is None
    assert (
        cb.regression.QuantileRecalibration(n_levels=3)
        .fit(np.zeros(200), y, std=np.ones(200))
        .guarantee(0.5)
        .n
        == 200
    )
