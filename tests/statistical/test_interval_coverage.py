"""95 % intervals hold the known truth as often as they say where that is hard: small and seeded
here, more in the slow run.

The whole table, for every metric and model, is made by benchmarks/metrics/coverage.py: intervals
were chosen on its seed 1, and are judged here on seed 2027.
"""

import warnings

import numpy as np
import pytest
from benchmarks.metrics import coverage
from benchmarks.metrics.coverage_settings import FORECASTS, MODELS

from calibrant.errors import CalibrationWarning

METRICS = coverage.chosen()
MEANS = ("log_loss", "brier_score", "spherical_score")
LOGISTIC = ("calibration_slope", "joint_calibration_intercept", "calibration_in_the_large")
OPEN = ("rmse", "mae", "crps", "nll", "pinball_loss", "wis")
#: Whose bootstrap took noise, or no noise at all, for the truth.
DEBIASED = (
    "ence",
    "uce",
    "interval_calibration_error",
    "rms_interval_calibration_error",
    "miscalibration_area",
)


def held(key, model, n, repeats, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return coverage.simulate(METRICS[key], model, n, repeats, **options)


def enough(row):
    """93 % less two simulation errors, a width, and the metric's own number."""
    assert row["coverage"] >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / row["repeats"]), row
    assert row["no width"] == 0.0, row
    assert row["holds"] == 1.0, row


@pytest.mark.parametrize("model", ["sharp", "constant .97", "rare event", "sure, 2 % wrong"])
@pytest.mark.parametrize("key", ["accuracy", "rps", *MEANS])
def test_of_means_at_fifty_rows(key, model):
    enough(held(key, model, 50, 100))


@pytest.mark.parametrize("model", ["calibrated", "Dirichlet, K = 100"])
def test_of_bounded_means_at_twenty_rows(model):
    enough(held("brier_score", model, 20, 150))


@pytest.mark.parametrize("key", ["event_auroc", "overconfidence", "crps", "rmse"])
def test_of_others(key):
    enough(
        held(
            key,
            "std too small" if METRICS[key].domain.name == "regression" else "overconfident",
            50,
            100,
        )
    )


@pytest.mark.parametrize("model", ["sharp", "calibrated"])
@pytest.mark.parametrize(
    "key", [*LOGISTIC, "d2_brier", "d2_log_loss", "confidence_spread", "net_benefit", "lift"]
)
def test_where_walds_and_the_delta_methods_fell_short(key, model):
    enough(held(key, model, 50, 80))


@pytest.mark.parametrize(
    "key", ["rmse", "nll", "c_v", "coverage_width_criterion", "size_stratified_coverage"]
)
def test_of_forecasts_with_heavy_tails(key):
    enough(held(key, "heavy tails", 50, 100))


@pytest.mark.parametrize("key", ["ece", "ace", "per_label_ece", "full_ece"])
def test_of_calibration_errors(key):
    for model in ("calibrated", "constant .97"):
        enough(held(key, model, 50, 25, n_resamples=200))


@pytest.mark.parametrize("key", ["ence", "rms_interval_calibration_error"])
def test_of_calibration_errors_of_forecasts(key):
    for model in ("heavy tails", "one std"):
        enough(held(key, model, 50, 25, n_resamples=100))


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("c_v", "one std"),
        ("confidence_spread", "perfect"),
        ("d2_brier", "perfect"),
    ],
)
def test_where_nothing_varies_there_is_a_width_all_the_same(key, model):
    assert held(key, model, 50, 3)["no width"] == 0.0


def test_a_percentile_bootstrap_of_the_plain_error_would_not():
    """The reason for all this: it misses a calibrated model every time."""
    assert (
        held("ece", "calibrated", 200, 10, method="bootstrap", n_resamples=100)["coverage"] == 0.0
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 100, 200, 1000])
@pytest.mark.parametrize("model", list(MODELS))
@pytest.mark.parametrize("key", MEANS)
def test_of_means_over_many_repeats(key, model, n):
    if n > 20 or key != "log_loss":
        enough(held(key, model, n, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("model", ["sharp", "overconfident", "underconfident", "calibrated"])
@pytest.mark.parametrize("key", LOGISTIC)
def test_of_logistic_coefficients_over_many_repeats(key, model, n):
    enough(held(key, model, n, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("model", list(FORECASTS))
@pytest.mark.parametrize("key", OPEN)
def test_of_open_means_over_many_repeats(key, model, n):
    enough(held(key, model, n, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("model", list(FORECASTS))
@pytest.mark.parametrize("key", DEBIASED)
def test_of_calibration_errors_of_forecasts_over_many_repeats(key, model):
    enough(held(key, model, 50, 200, n_resamples=200))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["calibrated", "overconfident", "underconfident", "Dirichlet, K = 3"]
)
@pytest.mark.parametrize("key", MEANS)
def test_interior_means_are_not_too_wide(key, model):
    assert held(key, model, 200, 2000)["coverage"] <= 0.97 + 2.0 * np.sqrt(0.97 * 0.03 / 2000)


@pytest.mark.slow
@pytest.mark.parametrize("model", list(coverage.SOME))
@pytest.mark.parametrize("key", ["ece", "debiased_ece", "ace", "classwise_ece"])
def test_of_calibration_errors_over_many_repeats(key, model):
    for n in (50, 200):
        enough(held(key, model, n, 200, n_resamples=400))
