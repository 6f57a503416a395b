"""The flaw that the paper shows, and what STD scaling and the ENCE make of it, on its own
synthetic problem.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

ence, interval_error = (
    metrics.expected_normalized_calibration_error,
    metrics.interval_calibration_error,
)


def _problem(uncertainty, seed, n):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 1.0, n)
    y = x + x * rng.normal(size=n)
    return x, rng.uniform(1.0, 10.0, n) if uncertainty == "random" else x, y


@pytest.fixture(scope="module", params=[0, 1])
def seed(request):
    return request.param


@pytest.mark.parametrize(
    "calibrator", [cb.StdScaling(), cb.regression.IntervalCalibration()], ids=["std", "interval"]
)
def test_random_uncertainty_passes_by_intervals_and_fails_by_ence(calibrator, seed):
    mean, std, y = _problem("random", seed, 50_000)
    forecast = calibrator.fit(mean[:6000], y[:6000], std=std[:6000]).predict(
        mean[6000:], std[6000:]
    )
    if isinstance(calibrator, cb.regression.IntervalCalibration):
        assert interval_error(y[6000:], forecast) < 0.02
    assert ence(y[6000:], forecast.mean, forecast.std) > 0.3


@pytest.mark.parametrize(
    "calibrator", [cb.StdScaling(), cb.regression.IntervalCalibration()], ids=["std", "interval"]
)
def test_true_uncertainty_passes_by_both(calibrator, seed):
    mean, std, y = _problem("true", seed, 50_000)
    forecast = calibrator.fit(mean[:6000], y[:6000], std=std[:6000]).predict(
        mean[6000:], std[6000:]
    )
    assert interval_error(y[6000:], forecast) < 0.02
    assert ence(y[6000:], forecast.mean, forecast.std) < 0.02


def test_before_calibration_random_uncertainty_has_ence_85(seed):
    mean, std, y = _problem("random", seed, 50_000)
    assert ence(y, mean, std) == pytest.approx(0.85, abs=0.02)


def test_the_cauchy_example_is_calibrated_by_intervals_and_wrong_in_every_row():
    rng = np.random.default_rng(0)
    y, scale = rng.normal(size=20_000), np.abs(rng.normal(size=20_000))
    forecast = cb.regression.CauchyForecast(0.0, scale)
    assert interval_error(y, forecast) < 0.01
    small = scale < np.quantile(scale, 0.1)
    assert metrics.interval_coverage(y[small], forecast.take(small)) < 0.5
    # By the CRPS a normal forecast that knows the outcomes is far better.
    crps = metrics.continuous_ranked_probability_score
    assert crps(y, cb.NormalForecast(np.zeros(20_000), np.ones(20_000))) < 0.8 * crps(y, forecast)


@pytest.mark.parametrize(
    "calibrator",
    [None, cb.StdScaling(), cb.regression.IntervalCalibration()],
    ids=["before", "std", "interval"],
)
def test_random_uncertainty_can_pass_by_intervals_after_std_scaling_too(calibrator, seed):
    """The normal counterpart of the Cauchy example, which the paper says exists.

    y is a radius with a random sign, and 1 / std the cosine of an independent angle, so that y /
    std is exactly N(0, 1) (Box and Muller) while the std says nothing of y.
    """
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 50_000) * np.sqrt(2.0 * rng.exponential(size=50_000))
    std, mean = 1.0 / np.abs(np.cos(rng.uniform(0.0, 2.0 * np.pi, 50_000))), np.zeros(50_000)
    forecast = cb.NormalForecast(mean[6000:], std[6000:])
    if calibrator is not None:
        forecast = calibrator.fit(mean[:6000], y[:6000], std=std[:6000]).predict(forecast)
    assert interval_error(y[6000:], forecast) < 0.02
    assert ence(y[6000:], forecast.mean, forecast.std) > 0.3


def test_on_the_papers_problem_no_random_uncertainty_passes_after_std_scaling(seed):
    """y / std is a mixture of normal distributions, with tails too heavy for any one; the least
    heavy has one std for all rows.
    """
    rng = np.random.default_rng(seed)
    mean, _, y = _problem("random", seed, 50_000)
    for width in (0.0, 0.2, 0.5, 1.0):
        std = np.exp(width * rng.uniform(-1.0, 1.0, 50_000))
        forecast = (
            cb.StdScaling()
            .fit(mean[:6000], y[:6000], std=std[:6000])
            .predict(mean[6000:], std[6000:])
        )
        assert interval_error(y[6000:], forecast) > 0.05
