import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import CalibrationWarning

RNG = np.random.default_rng(0)
P = np.round(RNG.random(300), 2)
Y = (RNG.random(300) < P**2).astype(int)


def test_equals_the_largest_gap_over_all_thresholds():
    gaps = [abs(np.sum((Y - P)[t >= P])) / len(P) for t in np.unique(P)]
    assert metrics.ks_calibration_error(Y, P, target="event") == pytest.approx(max(gaps), abs=1e-12)


def test_the_interval_is_debiased_and_holds_a_planted_error():
    p = np.full(2000, 0.6)
    y = (np.arange(2000) % 2).astype(int)
    with pytest.warns(CalibrationWarning, match="is approximate"):
        got = metrics.ks_calibration_error.interval(y, p, target="event", n_resamples=200)
    assert got.method == "debiased"
    assert got.low < 0.1 < got.high
    assert got.plain == pytest.approx(0.1)
