"""Student and Cauchy forecasts: SciPy and the integral as references, exact in the tails, at the
degrees of freedom where moments end, and with every calibrator by quantiles.
"""

import pickle

import numpy as np
import pytest
from scipy import integrate, special, stats

import calibrant as cb
from calibrant import metrics
from calibrant.core.forecast import RecalibratedForecast
from calibrant.errors import InputError
from calibrant.regression import CauchyForecast, StudentForecast

crps = metrics.continuous_ranked_probability_score
DF = [0.6, 1.0, 1.5, 2.0, 2.5, 8.0, 1e3]


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    return rng.normal(size=40), np.exp(rng.normal(size=40)), 3.0 * rng.normal(size=40)


@pytest.mark.parametrize("df", DF)
def test_it_equals_scipys_distribution(df, rows):
    location, scale, y = rows
    forecast, frozen = StudentForecast(location, scale, df), stats.t(df, location, scale)
    np.testing.assert_allclose(forecast.cdf(y), frozen.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(forecast.log_density(y), frozen.logpdf(y), rtol=1e-11, atol=1e-12)
    for q in (1e-5, 0.2, 0.5, 0.97):
        np.testing.assert_allclose(forecast.quantile(q), frozen.ppf(q), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(forecast.interval(0.9), frozen.interval(0.9), rtol=1e-10)
    assert metrics.negative_log_likelihood(y, forecast) == pytest.approx(
        -frozen.logpdf(y).mean(), rel=1e-11
    )


def test_the_cauchy_distribution_by_hand():
    forecast = CauchyForecast(1.0, [2.0, 2.0])
    y = np.array([1.0, 3.0])
    np.testing.assert_allclose(forecast.cdf(y), [0.5, 0.75])
    np.testing.assert_allclose(np.exp(forecast.log_density(y)), [1 / (2 * np.pi), 1 / (4 * np.pi)])
    # 2 / pi (z arctan z - log(1 + z^2) / 2 + log 2), times the scale.
    expected = [4.0 / np.pi * np.log(2.0), 4.0 / np.pi * (np.pi / 4.0 + 0.5 * np.log(2.0))]
    assert crps(y, forecast) == pytest.approx(np.mean(expected), rel=1e-12)
    np.testing.assert_allclose(forecast.crps(y), expected, rtol=1e-12)
    assert not np.isfinite(forecast.mean).any()
    assert not np.isfinite(forecast.std).any()


def integral(t, df):
    """The integral of (F - [t <= u])^2, by quadrature in the logarithm of the far distance."""
    tail = lambda v: special.stdtr(df, -np.exp(v)) ** 2 * np.exp(v)  # noqa: E731
    reach = integrate.quad(tail, -40.0, 300.0 if df < 1.5 else 60.0, limit=2000)[0]
    inner = integrate.quad(
        lambda u: special.stdtr(df, u) ** 2 - special.stdtr(df, -u) ** 2, 0.0, abs(t), limit=500
    )[0]
    return 2.0 * reach + inner


@pytest.mark.parametrize(
    "df", [0.75, 0.9998, 0.99991, 1 - 1e-9, 1.0, 1 + 1e-12, 1.00009, 1.0002, 1.3, 2.0, 7.0, 1e6]
)
@pytest.mark.parametrize("t", [0.0, 0.7, -3.0, 40.0])
def test_the_crps_is_the_integral(t, df):
    forecast = StudentForecast([5.0], [10.0], df)
    assert crps([5.0 + 10.0 * t], forecast) == pytest.approx(10.0 * integral(t, df), rel=1e-10)


def test_the_crps_is_infinite_where_the_integral_is():
    assert np.isinf(StudentForecast(0.0, [1.0, 1.0], [0.5, 0.2]).crps(np.zeros(2))).all()
    assert np.isfinite(StudentForecast(0.0, [1.0], 0.51).crps(np.zeros(1))).all()


def test_with_many_degrees_of_freedom_it_is_the_normal_forecast(rows):
    location, scale, y = rows
    normal = cb.NormalForecast(location, scale)
    for df, tolerance in ((1e9, 1e-8), (1e15, 1e-13)):
        forecast = StudentForecast(location, scale, df)
        assert crps(y, forecast) == pytest.approx(crps(y, normal), rel=tolerance)
        np.testing.assert_allclose(forecast.log_density(y), normal.log_density(y), rtol=1e-6)
        np.testing.assert_allclose(forecast.std, scale, rtol=tolerance)
        np.testing.assert_allclose(forecast.score(y), normal.score(y), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("df", [0.6, 1.0, 3.0, 30.0, 1e3, 1e10])
def test_normal_scores_and_values_invert_each_other_far_out(df):
    z = np.array([-9.0, -5.0, -0.1, 0.0, 0.2, 3.0, 8.0])
    forecast = StudentForecast(np.zeros(7), np.ones(7), df)
    values = np.array([forecast.at(z)[0, k] for k in range(7)])
    assert (np.diff(values) > 0.0).all()
    np.testing.assert_allclose(forecast.score(values), z, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("t", [1e3, 1e7, 1e30, 1e70])
def test_far_tails_have_their_closed_form(t):
    score = CauchyForecast(0.0, [1.0]).score([t])
    np.testing.assert_allclose(
        score, -special.ndtri_exp(np.log(np.arctan(1.0 / t) / np.pi)), rtol=1e-12
    )


def test_outcomes_of_any_size_have_finite_scores():
    forecast = StudentForecast(0.0, np.full(4, 1e-30), [0.8, 1.0, 3.0, 1e6])
    y = np.full(4, 1e30)
    assert np.isfinite(forecast.take([0, 1, 2]).score(y[:3])).all()
    assert np.isfinite(metrics.negative_log_likelihood(y, forecast))
    assert np.isfinite(forecast.log_density(y)).all()
    np.testing.assert_allclose(forecast.crps(y), 1e30, rtol=1e-3)


def test_moments_end_where_they_do():
    forecast = StudentForecast(3.0, np.full(5, 2.0), [0.5, 1.0, 1.5, 2.0, 4.0])
    assert not np.isfinite(forecast.mean[:2]).any()
    np.testing.assert_array_equal(forecast.mean[2:], 3.0)
    assert not np.isfinite(forecast.std[:4]).any()
    assert forecast.std[4] == pytest.approx(np.sqrt(8.0))
    y = np.zeros(5)
    with pytest.raises(InputError, match="use quantile-based methods"):
        metrics.root_mean_squared_error(y, forecast)
    with pytest.raises(InputError, match="standard deviation of the forecast must be finite"):
        metrics.expected_normalized_calibration_error(np.zeros(3), forecast.take([2, 3, 4]))


@pytest.mark.parametrize("slope", [0.4, 0.6, 0.8, 1.0, 1.3])
@pytest.mark.parametrize("df", [1.0, 1.5, 2.5, 4.0, 30.0])
def test_recalibrated_moments_are_there_where_they_exist(df, slope):
    """At scores z the quantile of a score s z has tails of df / s^2 degrees of freedom."""
    base = StudentForecast(np.zeros(2), [1.0, 3.0], df)
    knots = np.array([-1.0, 0.0, 1.0])
    forecast = RecalibratedForecast(base, knots, slope * knots, np.array([slope, slope]))
    tail = df / slope**2
    assert np.isnan(forecast.mean).all() == (tail <= 1.0)
    # Between 2 and 2.5 the second moment exists, and outcomes that no one will see decide it.
    if not 2.0 < tail < 2.5:
        assert np.isnan(forecast.std).all() == (tail <= 2.0)
    if tail > 1.0:
        np.testing.assert_allclose(forecast.mean, 0.0, atol=1e-9)
    if tail > 3.0:
        square = integrate.quad(
            lambda z: base.select([0]).at(np.array([slope * z]))[0, 0] ** 2 * stats.norm.pdf(z),
            *(-12.0, 12.0),
            limit=400,
        )[0]
        np.testing.assert_allclose(forecast.std, np.sqrt(square) * np.array([1.0, 3.0]), rtol=1e-3)


@pytest.mark.parametrize(
    "calibrator", [cb.regression.IntervalCalibration(), cb.regression.QuantileRecalibration()]
)
def test_a_recalibrated_cauchy_forecast_has_no_moments(calibrator):
    y = np.random.default_rng(0).standard_cauchy(400)
    forecast = calibrator.fit(CauchyForecast(np.zeros(400), np.ones(400)), y).predict(
        CauchyForecast([0.0, 5.0], [1.0, 2.0])
    )
    assert np.isnan(forecast.std).all()
    assert np.isfinite(forecast.interval(0.9)).all()
    with pytest.raises(InputError, match="finite"):
        metrics.root_mean_squared_error(y[:2], forecast)


def test_rows_columns_and_joins(rows):
    location, scale, y = rows
    df = np.linspace(1.0, 9.0, 40)
    forecast = StudentForecast(location, scale, df)
    part = forecast.take([3, 1])
    np.testing.assert_array_equal(part.quantile(0.9), forecast.quantile(0.9)[[3, 1]])
    two = StudentForecast(np.stack([location, y], 1), np.stack([scale, scale], 1), 3.0)
    assert two.shape == (40, 2)
    np.testing.assert_array_equal(two.column(0).df, np.full(40, 3.0))
    assert CauchyForecast(location, scale).take([2]).df.tolist() == [1.0]
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(forecast)).quantile(0.3), forecast.quantile(0.3)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [1.0], 0.0), "df must be positive; got 0"),
        (([0.0], [1.0], [np.nan]), "df must be finite"),
        (([0.0], [1.0], np.inf), "df must be finite"),
        (([0.0], [-1.0], 3.0), "scale must be finite and positive; row 0 is -1"),
        (([0.0, 1.0], [1.0], 3.0), "one shape, \\(2,\\), or be numbers; got scale of shape"),
        (([0.0, 1.0], [1.0, 1.0], [[3.0], [3.0]]), "got location of shape"),
        ((0.0, 1.0, 3.0), "location must be \\(n,\\)"),
        ((["a"], [1.0], 3.0), "location must hold numbers"),
    ],
)
def test_what_it_does_not_take_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        StudentForecast(*arguments)


def test_one_row_and_integers_are_taken():
    forecast = StudentForecast([1], [2], 3)
    assert forecast.quantile(0.5).tolist() == [1.0]
    assert len(forecast) == 1


@pytest.mark.parametrize(
    "calibrator", [cb.regression.IntervalCalibration(), cb.regression.QuantileRecalibration()]
)
def test_scales_that_are_too_small_are_recalibrated_and_saved(calibrator, tmp_path):
    """Outcomes are Cauchy with three times the scale."""
    rng = np.random.default_rng(2)
    scale = np.exp(0.5 * rng.normal(size=4000))
    y = 3.0 * scale * rng.standard_cauchy(4000)
    fit, test = slice(0, 2000), slice(2000, None)
    forecast = CauchyForecast(0.0, scale)
    cal = calibrator.fit(forecast.take(fit), y[fit])
    result = cal.predict(forecast.take(test))
    before, after = (
        metrics.interval_calibration_error(y[test], f) for f in (forecast.take(test), result)
    )
    assert after < 0.03 < 0.15 < before
    cal.save(tmp_path / "cal.calibrant")
    again = cb.load(tmp_path / "cal.calibrant").predict(forecast.take(test))
    np.testing.assert_array_equal(again.interval(0.8), result.interval(0.8))


def test_a_report_judges_student_forecasts(tmp_path):
    rng = np.random.default_rng(3)
    location, scale = rng.normal(size=60), np.exp(0.4 * rng.normal(size=60))
    y = location + scale * rng.standard_t(5, size=60)
    result = cb.report(y, StudentForecast(location, scale, 5.0))
    page = result.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "forecasts as distributions" in page


@pytest.mark.parametrize("df", [2.5, 3.0])
def test_the_automatic_choice_keeps_a_standard_deviation(df):
    """Recalibration can make tails so heavy that there is none; a report needs one."""
    rng = np.random.default_rng(0)
    location, scale = rng.normal(size=600), np.exp(0.3 * rng.normal(size=600))
    y = location + 1.7 * scale * rng.standard_t(df, 600)
    forecast = StudentForecast(location, scale, df)
    calibrator = cb.AutoRegressionCalibrator().fit(forecast, y)
    assert np.isfinite(calibrator.predict(forecast).std).all()
    assert "Calibrate" in str(cb.report(y, forecast))
