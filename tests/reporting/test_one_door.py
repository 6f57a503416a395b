"""A report reads what it is given once; all below works on the record."""

import sys

import numpy as np
import pytest

import calibrant as cb

DOORS = {("predictions.py", "read"), ("forecast_record.py", "read_forecast")}


def crossings(*given, **options):
    count = 0

    def seen(frame, event, _):
        nonlocal count
        code = frame.f_code
        count += (
            event == "call"
            and (code.co_filename.replace("\\", "/").rsplit("/", 1)[-1], code.co_name) in DOORS
        )

    sys.setprofile(seen)
    try:
        cb.report(*given, **options, n_resamples=100)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.calibrators.Identity(),
        cb.TemperatureScaling(),
        [cb.TemperatureScaling, cb.ConfidenceCalibrator],
    ],
)
def test_of_classes(calibrator):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 200)
    assert (
        crossings(
            (rng.random(200) < p).astype(int), p, calibrator=calibrator, groups=np.arange(200) % 2
        )
        == 1
    )


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.calibrators.Identity(),
        cb.StdScaling(),
        [cb.StdScaling, cb.regression.IntervalCalibration],
    ],
)
def test_of_numbers(calibrator):
    rng = np.random.default_rng(0)
    assert (
        crossings(rng.normal(size=200), np.zeros(200), np.full(200, 0.8), calibrator=calibrator)
        == 1
    )
