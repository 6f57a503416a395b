"""F16: 50 rows at .99, all right, had intervals of no width, and sharp models were covered 80
times of 100.
"""

import warnings

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import CalibrationWarning

KEYS = (
    "accuracy",
    "log_loss",
    "brier_score",
    "spherical_score",
    "event_brier_score",
    "calibration_bias",
    "underconfidence",
    "overconfidence",
    "event_auroc",
    "confidence_auroc",
    "expected_calibration_error",
    "classwise_calibration_error",
    "adaptive_calibration_error",
    "debiased_calibration_error",
    "ks_calibration_error",
    "smooth_calibration_error",
    "area_under_risk_coverage",
    "coverage_at_risk",
    "mean_risk",
    "threshold_weighted_brier_score",
)


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.parametrize("name", KEYS)
def test_fifty_rows_at_99_percent(name, wrong):
    metric, y = getattr(metrics, name), np.arange(50) >= wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = metric.interval(y.astype(int), [0.99] * 50, n_resamples=60)
    assert found.low < found.high
    assert found.low <= metric(y.astype(int), [0.99] * 50) <= found.high


def test_perfect_ranking_is_not_known_to_be_perfect():
    found = metrics.event_auroc.interval([0] * 45 + [1] * 5, [0.1] * 45 + [0.9] * 5)
    assert found.value == found.high == 1.0
    assert 0.1 < found.low < 0.95


@pytest.mark.parametrize(
    "metric", [metrics.log_loss, metrics.brier_score, metrics.event_auroc], ids=lambda m: m.key
)
def test_sharp_models_are_covered(metric):
    """Half the rows 1 - 10^U(-3, -1), half 10^U(-3, -1), calibrated; the percentile bootstrap
    covers about 63 %.
    """
    p = np.random.default_rng(9).uniform(-3.0, -1.0, 200_000)
    p = np.where(np.arange(len(p)) % 2 == 0, 10.0**p, 1.0 - 10.0**p)
    true = metric(
        np.repeat([0, 1], len(p)), np.tile(p, 2), sample_weight=np.concatenate([1.0 - p, p])
    )
    held = []
    for r in range(300):
        rng = np.random.default_rng([7, r])
        low = 10.0 ** rng.uniform(-3.0, -1.0, 50)
        q = np.where(rng.random(50) < 0.5, low, 1.0 - low)
        found = metric.interval((rng.random(50) < q).astype(int), q)
        held.append(found.low <= true <= found.high)
    assert np.mean(held) >= 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / 300)
